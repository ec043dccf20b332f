package io.regatta.protocol.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Encoder and decoder against protobuf's own, and against every way in which a network can cut bytes. */
class TensorFrameCodecTest {

  @Property(tries = 300)
  void frames_survive_any_fragmentation(@ForAll @Size(min = 1, max = 6) List<@IntRange(max = 5000) Integer> sizes,
      @ForAll @IntRange(min = 1, max = 900) int cut) {
    List<TensorFrame> sent = new ArrayList<>();
    Buffer wire = Buffer.buffer();
    for (int i = 0; i < sizes.size(); i++) {
      TensorFrame f = frame(i, sizes.get(i));
      sent.add(f);
      wire.appendBuffer(TensorFrameEncoder.encode(f));
    }
    List<TensorFrame> received = new ArrayList<>();
    TensorFrameDecoder decoder = new TensorFrameDecoder(1 << 20, received::add);
    for (int at = 0; at < wire.length(); at += cut) {
      decoder.feed(wire.slice(at, Math.min(wire.length(), at + cut)));
    }
    assertThat(decoder.atBoundary()).isTrue();
    assertThat(received).hasSameSizeAs(sent);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(received.get(i).header().getRequest()).isEqualTo(i);
      assertThat(received.get(i).read()).isEqualTo(sent.get(i).read());
      assertThat(received.get(i).read().order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }
  }

  @Test
  void the_bytes_are_those_of_protobuf() throws Exception {
    TensorFrame f = frame(3, 100);
    byte[] ours = TensorFrameEncoder.encode(f).getBytes();
    TensorMessage theirs = TensorMessage.parseFrom(Arrays.copyOfRange(ours, 5, ours.length));
    assertThat(theirs.getPayload().size()).isEqualTo(100);
    assertThat(theirs.toBuilder().clearPayload().build()).isEqualTo(f.header());
    assertThat(Arrays.copyOfRange(ours, 5, ours.length)).isEqualTo(theirs.toByteArray());
  }

  @Test
  void an_oversized_message_is_refused_before_it_is_allocated() {
    TensorFrameDecoder decoder = new TensorFrameDecoder(1000, f -> { });
    assertThatThrownBy(() -> decoder.feed(Buffer.buffer(new byte[] {0, 127, -1, -1, -1})))
        .isInstanceOf(WireException.class).hasMessageContaining("2147483647")
        .hasMessageContaining("max_message_bytes = 1000");
    TensorFrameDecoder unsigned = new TensorFrameDecoder(1000, f -> { });
    assertThatThrownBy(() -> unsigned.feed(Buffer.buffer(new byte[] {0, -1, -1, -1, -1})))
        .isInstanceOf(WireException.class).hasMessageContaining("4294967295");
  }

  @Test
  void memory_follows_what_has_come_and_not_what_is_announced() {
    List<TensorFrameDecoder> open = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) { // 80 GB announced, 70 kB sent
      TensorFrameDecoder decoder = new TensorFrameDecoder(8 << 20, f -> { });
      decoder.feed(Buffer.buffer(new byte[] {0, 0, 0x7f, -1, -1, 8, 1}));
      open.add(decoder);
    }
    assertThat(open).noneMatch(TensorFrameDecoder::atBoundary);
  }

  @Test
  void what_follows_a_stray_end_group_tag_is_not_dropped_silently() {
    TensorFrameDecoder decoder = new TensorFrameDecoder(1000, f -> { });
    assertThatThrownBy(() -> decoder.feed(Buffer.buffer(new byte[] {0, 0, 0, 0, 3, 8, 1, 12})))
        .isInstanceOf(WireException.class).hasMessageContaining("no regatta.TensorMessage");
  }

  @Test
  void a_compressed_message_and_garbage_are_refused_and_not_delivered() {
    List<TensorFrame> received = new ArrayList<>();
    assertThatThrownBy(() -> new TensorFrameDecoder(1000, received::add)
        .feed(Buffer.buffer(new byte[] {1, 0, 0, 0, 0}))).isInstanceOf(WireException.class)
        .hasMessageContaining("compression");
    assertThatThrownBy(() -> new TensorFrameDecoder(1000, received::add)
        .feed(Buffer.buffer(new byte[] {0, 0, 0, 0, 3, -1, -1, -1}))).isInstanceOf(WireException.class)
        .hasMessageContaining("no regatta.TensorMessage");
    assertThat(received).isEmpty();
  }

  @Property(tries = 300)
  void bytes_out_of_nowhere_end_in_a_clear_error_or_wait_for_more(@ForAll byte[] noise) {
    TensorFrameDecoder decoder = new TensorFrameDecoder(1 << 16, f -> { });
    try {
      decoder.feed(Buffer.buffer(noise));
    } catch (WireException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  private static TensorFrame frame(int request, int size) {
    ByteBuffer payload = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size; i++) {
      payload.put(i, (byte) (i * 7 + request));
    }
    return new TensorFrame(TensorMessage.newBuilder().setKind(Kind.PUSH).setRequest(request).setJob("j").setStep(5)
        .setTable("t").build(), payload);
  }
}
