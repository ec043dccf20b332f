package io.regatta.load.attack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TlsFollowerTest {
  private static final byte HANDSHAKE = 22;
  private static final byte DATA = 23;

  private final TlsFollower follower = new TlsFollower();

  private static byte[] record(byte type, byte[] payload) {
    return ByteBuffer.allocate(5 + payload.length).put(type).put((byte) 3).put((byte) 3)
        .putShort((short) payload.length).put(payload).array();
  }

  private void send(int sequence, byte[] bytes, int begin, int end) {
    follower.segment(sequence + begin, ByteBuffer.wrap(bytes, begin, end - begin).slice());
  }

  /** Packets cut records anywhere, come twice and in another order, and sequence numbers wrap around. */
  @Test
  void finds_tls_records_in_packets_of_any_order() {
    byte[] first = record(HANDSHAKE, new byte[70]);
    byte[] second = record(DATA, new byte[1000]);
    byte[] all = ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
    int start = -500;
    send(start, all, 0, 3);
    send(start, all, 700, all.length);
    send(start, all, 2, 100);
    send(start, all, 2, 100);
    assertThat(follower.isIncomplete()).isTrue();
    send(start, all, 90, 800);
    assertThat(follower.isIncomplete()).isFalse();
    assertThat(follower.bytes()).isEqualTo(all.length);
    assertThat(follower.clear()).isEmpty();
  }

  @Test
  void quotes_words_of_what_is_no_tls() {
    byte[] text = "HZC\0\0\1\"parameter-server\"\0\0".getBytes(StandardCharsets.ISO_8859_1);
    send(7, text, 0, text.length);
    assertThat(follower.clear()).contains("parameter-server");
  }

  /** A protocol that goes over to clear text after its handshake. */
  @Test
  void notices_clear_text_after_tls_records() {
    byte[] record = record(DATA, new byte[10]);
    byte[] text = "regatta.directory".getBytes(StandardCharsets.ISO_8859_1);
    send(0, record, 0, record.length);
    assertThat(follower.clear()).isEmpty();
    send(record.length, text, 0, text.length);
    assertThat(follower.clear()).contains("regatta.directory");
  }

  /** Shorter than the head of a record. */
  @Test
  void notices_a_few_bytes_of_clear_text() {
    byte[] text = "HZC".getBytes(StandardCharsets.ISO_8859_1);
    send(0, text, 0, text.length);
    assertThat(follower.clear()).isNotEmpty();
  }

  @Test
  void reads_the_server_name_of_a_client_hello() {
    byte[] name = "secret-host".getBytes(StandardCharsets.US_ASCII);
    ByteBuffer hello = ByteBuffer.allocate(200);
    hello.put(new byte[] {1, 0, 0, 0, 3, 3}).put(new byte[32]).put((byte) 0).putShort((short) 2).putShort((short) 1)
        .put((byte) 1).put((byte) 0).putShort((short) (9 + name.length)).putShort((short) 0)
        .putShort((short) (5 + name.length)).putShort((short) (3 + name.length)).put((byte) 0)
        .putShort((short) name.length).put(name);
    byte[] bytes = new byte[hello.position()];
    hello.flip().get(bytes);
    byte[] record = record(HANDSHAKE, bytes);
    send(0, record, 0, record.length);
    assertThat(follower.serverName()).isEqualTo("secret-host");
  }
}
