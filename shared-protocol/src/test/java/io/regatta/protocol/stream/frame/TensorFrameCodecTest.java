package io.regatta.protocol.stream.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Messages;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Encoder and decoder against protobuf's own, and against every way in which a network can cut bytes. */
class TensorFrameCodecTest {
  private static final Map<TensorFrameDecoder, WholeFrames> receivers = new WeakHashMap<>();

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
    TensorFrameDecoder decoder = new TensorFrameDecoder(1 << 20);
    for (int at = 0; at < wire.length(); at += cut) {
      feed(decoder, wire.slice(at, Math.min(wire.length(), at + cut)), received);
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
    TensorFrameDecoder decoder = new TensorFrameDecoder(1000);
    assertThatThrownBy(() -> feed(decoder, Buffer.buffer(new byte[] {0, 127, -1, -1, -1}), new ArrayList<>()))
        .isInstanceOf(WireException.class).hasMessageContaining("2147483647")
        .hasMessageContaining("max_message_bytes = 1000");
    TensorFrameDecoder unsigned = new TensorFrameDecoder(1000);
    assertThatThrownBy(() -> feed(unsigned, Buffer.buffer(new byte[] {0, -1, -1, -1, -1}), new ArrayList<>()))
        .isInstanceOf(WireException.class).hasMessageContaining("4294967295");
  }

  @Test
  void memory_follows_what_has_come_and_not_what_is_announced() {
    List<TensorFrameDecoder> open = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) { // 80 GB announced, 70 kB sent
      TensorFrameDecoder decoder = new TensorFrameDecoder(8 << 20);
      feed(decoder, Buffer.buffer(new byte[] {0, 0, 0x7f, -1, -1, 8, 1}), new ArrayList<>());
      open.add(decoder);
    }
    assertThat(open).noneMatch(TensorFrameDecoder::atBoundary);
  }

  @Test
  void what_follows_a_stray_end_group_tag_is_not_dropped_silently() {
    TensorFrameDecoder decoder = new TensorFrameDecoder(1000);
    assertThatThrownBy(() -> feed(decoder, Buffer.buffer(new byte[] {0, 0, 0, 0, 3, 8, 1, 12}), new ArrayList<>()))
        .isInstanceOf(WireException.class).hasMessageContaining("no regatta.TensorMessage");
  }

  @Test
  void a_compressed_message_and_garbage_are_refused_and_not_delivered() {
    List<TensorFrame> received = new ArrayList<>();
    assertThatThrownBy(() -> feed(new TensorFrameDecoder(1000),
        Buffer.buffer(new byte[] {1, 0, 0, 0, 0}), received)).isInstanceOf(WireException.class)
        .hasMessageContaining("compression");
    assertThatThrownBy(() -> feed(new TensorFrameDecoder(1000),
        Buffer.buffer(new byte[] {0, 0, 0, 0, 3, -1, -1, -1}), received)).isInstanceOf(WireException.class)
        .hasMessageContaining("no regatta.TensorMessage");
    assertThat(received).isEmpty();
  }

  @Property(tries = 300)
  void bytes_out_of_nowhere_end_in_a_clear_error_or_wait_for_more(@ForAll byte[] noise) {
    TensorFrameDecoder decoder = new TensorFrameDecoder(1 << 16);
    try {
      feed(decoder, Buffer.buffer(noise), new ArrayList<>());
    } catch (WireException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  /** Protobuf lets a sender write fields in any order, and fields that we do not know. */
  @Property(tries = 200)
  void a_message_written_otherwise_is_read_too(@ForAll @IntRange(max = 3000) int size,
      @ForAll @IntRange(min = 1, max = 900) int cut, @ForAll @IntRange(max = 3) int how) throws Exception {
    TensorFrame f = frame(9, size);
    byte[] header = f.header().toByteArray();
    byte[] payload = TensorMessage.newBuilder().setPayload(ByteString.copyFrom(f.read())).build().toByteArray();
    byte[] unknown = UnknownFieldSet.newBuilder().addField(777, UnknownFieldSet.Field.newBuilder()
        .addLengthDelimited(ByteString.copyFrom(new byte[size])).addFixed32(3).addFixed64(4).addVarint(-1).build())
        .build().toByteArray();
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    for (byte[] part : switch (how) {
      case 0 -> List.of(payload, header);
      case 1 -> List.of(unknown, header, payload);
      case 2 -> List.of(header, payload, unknown);
      default -> List.of(header, payload, payload); // the last one counts
    }) {
      message.write(part);
    }
    Buffer wire = Buffer.buffer().appendByte((byte) 0).appendInt(message.size()).appendBytes(message.toByteArray());
    List<TensorFrame> received = new ArrayList<>();
    TensorFrameDecoder decoder = new TensorFrameDecoder(1 << 20);
    for (int at = 0; at < wire.length(); at += cut) {
      feed(decoder, wire.slice(at, Math.min(wire.length(), at + cut)), received);
    }
    assertThat(received).hasSize(1);
    assertThat(received.get(0).header().getRequest()).isEqualTo(9);
    assertThat(received.get(0).read()).isEqualTo(f.read());
  }

  private static void feed(TensorFrameDecoder decoder, Buffer bytes, List<TensorFrame> received) {
    WholeFrames whole = receivers.computeIfAbsent(decoder, d -> new WholeFrames(received::add));
    ByteBuf in = ((BufferInternal) bytes).getByteBuf();
    while (in.isReadable()) {
      decoder.feed(in, whole);
    }
  }

  private static TensorFrame frame(int request, int size) {
    ByteBuffer payload = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size; i++) {
      payload.put(i, (byte) (i * 7 + request));
    }
    return new TensorFrame(TensorMessage.newBuilder().setRequest(request).setJob("j").setPush(Push.newBuilder().setStep(5))
        .setRows(Messages.rows("t", 3, 2)).build(), payload);
  }
}
