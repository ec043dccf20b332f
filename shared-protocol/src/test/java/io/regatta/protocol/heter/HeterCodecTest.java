package io.regatta.protocol.heter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Element;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class HeterCodecTest {
  private static final int LIMIT = 64 << 20;

  /** A frame as it comes from the wire. */
  private record Frame(TensorMessage header, byte[] payload) {}

  private static TensorMessage.Builder header() {
    return TensorMessage.newBuilder().setJob("ctr").setRank(1).setIncarnation(7).setRequest(3);
  }

  private static List<Frame> sent(Iterator<Outgoing> frames) {
    List<Frame> sent = new ArrayList<>();
    frames.forEachRemaining(out -> {
      ByteBuffer payload = out.frame().payload().duplicate();
      byte[] bytes = new byte[payload.remaining()];
      payload.get(bytes);
      sent.add(new Frame(out.frame().header(), bytes));
      out.release();
    });
    return sent;
  }

  /** Passes frames on, each payload in parts of random sizes. */
  private static HeterAssembly received(List<Frame> frames, ByteBuffer memory, Random random) {
    HeterAssembly assembly = new HeterAssembly(frames.get(0).header, new ByteBudget(LIMIT), memory);
    for (int i = 0; i < frames.size(); i++) {
      byte[] payload = frames.get(i).payload;
      assembly.begin(frames.get(i).header, payload.length);
      for (int at = 0; at < payload.length; ) {
        int n = 1 + random.nextInt(payload.length - at);
        assembly.payload(Unpooled.wrappedBuffer(payload, at, n));
        at += n;
      }
      assertThat(assembly.end()).isEqualTo(i == frames.size() - 1);
    }
    return assembly;
  }

  private static List<TensorData> tensors(Random random, int count, int largest) {
    List<TensorData> tensors = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Element element = Element.forNumber(random.nextInt(8));
      tensors.add(CutTensors.of(Role.forNumber(random.nextInt(7)), "t" + i, element, random, random.nextInt(5),
          random.nextInt(largest)));
    }
    return tensors;
  }

  private static void assertSame(List<TensorData> received, List<TensorData> sent) {
    assertThat(received.stream().map(TensorData::tensor)).containsExactlyElementsOf(
        sent.stream().map(TensorData::tensor).toList());
    for (int i = 0; i < sent.size(); i++) {
      assertThat(received.get(i).bytes().duplicate()).isEqualTo(sent.get(i).bytes().duplicate());
    }
  }

  @Property(tries = 300)
  void a_batch_arrives_as_it_was_sent(@ForAll long seed, @ForAll @IntRange(max = 6) int count,
      @ForAll @IntRange(min = 1, max = 30_000) int largest, @ForAll @IntRange(min = 1024,
      max = 200_000) int chunkBytes) {
    Random random = new Random(seed);
    BatchToCompute batch = new BatchToCompute(new BatchId(CutTensors.TRAINER, 2, 5), CutBatch.newBuilder().setReplica(2)
        .setNumber(5).setStep(9).setValuesOf(8).setExamples(4).build(), tensors(random, count, largest));
    List<Frame> frames = sent(HeterCodec.batch(header(), batch, chunkBytes));
    assertThat(frames).allSatisfy(frame -> assertThat(frame.payload.length).isLessThanOrEqualTo(chunkBytes));
    ByteBuffer used = random.nextBoolean() ? null : ByteBuffer.allocateDirect(random.nextInt(100_000));
    BatchToCompute received = HeterCodec.batch(received(frames, used, random));
    assertThat(received.id()).isEqualTo(batch.id());
    assertThat(received.head()).isEqualTo(batch.head());
    assertSame(received.tensors(), batch.tensors());
  }

  @Property(tries = 100)
  void a_result_arrives_as_it_was_sent(@ForAll long seed, @ForAll @IntRange(max = 6) int count) {
    Random random = new Random(seed);
    ComputedBatch result = new ComputedBatch(new BatchId(CutTensors.TRAINER, 0, 5), CutResult.newBuilder().setNumber(5)
        .setLoss(random.nextDouble()).setGathered(true).build(), tensors(random, count, 20_000));
    ComputedBatch received = HeterCodec.result(received(sent(HeterCodec.result(header(), result, 4096)), null, random));
    assertThat(received.id()).isEqualTo(result.id());
    assertThat(received.head()).isEqualTo(result.head());
    assertSame(received.tensors(), result.tensors());
  }

  @Property(tries = 200)
  void frames_that_are_missing_or_out_of_order_never_make_a_message(@ForAll long seed) {
    Random random = new Random(seed);
    BatchToCompute batch = CutTensors.batch(CutTensors.TRAINER, 1, 100);
    List<Frame> frames = sent(HeterCodec.batch(header(), batch, 4096));
    int at = random.nextInt(frames.size());
    if (random.nextBoolean()) {
      frames.remove(at);
    } else {
      frames.add(random.nextInt(frames.size()), frames.remove(at));
    }
    List<Frame> before = sent(HeterCodec.batch(header(), batch, 4096));
    if (frames.stream().map(Frame::header).toList().equals(before.stream().map(Frame::header).toList())) {
      return; // moved to where it was
    }
    HeterAssembly[] whole = new HeterAssembly[1];
    try {
      HeterAssembly assembly = new HeterAssembly(frames.get(0).header, new ByteBudget(LIMIT), null);
      for (Frame frame : frames) {
        assembly.begin(frame.header, frame.payload.length);
        assembly.payload(Unpooled.wrappedBuffer(frame.payload));
        if (assembly.end()) {
          whole[0] = assembly;
        }
      }
    } catch (InvalidInput refused) {
      assertThat(refused).hasMessageContaining("job 'ctr', rank 1");
    }
    assertThat(whole[0]).isNull();
  }

  @Test
  void a_tensor_of_no_examples_takes_one_frame_without_payload() {
    BatchToCompute batch = CutTensors.batch(CutTensors.TRAINER, 1, 0);
    List<Frame> frames = sent(HeterCodec.batch(header(), batch, 4096));
    assertThat(frames).hasSize(1);
    assertSame(HeterCodec.batch(received(frames, null, new Random(0))).tensors(), batch.tensors());
  }

  @Test
  void a_chunk_of_4_megabytes_and_one_of_a_byte_more_arrive() {
    for (long bytes : new long[] {(4 << 20) - 1, 4 << 20, (4 << 20) + 1}) {
      Random random = new Random(bytes);
      BatchToCompute batch = new BatchToCompute(new BatchId(CutTensors.TRAINER, 0, 1), CutBatch.newBuilder()
          .setNumber(1).build(),
          List.of(CutTensors.of(Role.INPUT, "0", Element.UINT8, random, bytes)));
      List<Frame> frames = sent(HeterCodec.batch(header(), batch, 4 << 20));
      assertThat(frames).hasSize(bytes > 4 << 20 ? 2 : 1);
      assertSame(HeterCodec.batch(received(frames, null, random)).tensors(), batch.tensors());
    }
  }

  @Test
  void large_tensors_are_sent_from_where_they_lie() {
    BatchToCompute batch = new BatchToCompute(new BatchId(CutTensors.TRAINER, 0, 1), CutBatch.newBuilder().setNumber(1)
        .build(),
        List.of(CutTensors.of(Role.INPUT, "0", Element.FLOAT32, new Random(0), 1000, 100)));
    HeterCodec.batch(header(), batch, 1 << 20).forEachRemaining(out -> assertThat(out.memory()).isNull());
  }

  private static void refused(CutTensor tensor, long total, String words) {
    TensorMessage first = header().setHeter(HeterFrame.newBuilder().setTotal(total)
        .setBatch(CutBatch.newBuilder().addTensors(tensor))).build();
    assertThatThrownBy(() -> new HeterAssembly(first, new ByteBudget(LIMIT), null)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(words);
  }

  @Test
  void shapes_and_totals_of_a_peer_are_not_trusted() {
    CutTensor four = CutTensor.newBuilder().setName("0").addShape(4).build();
    refused(four, 15, "16 bytes, but 15");
    refused(four.toBuilder().setShape(0, -4).build(), 16, "negative");
    refused(four.toBuilder().setShape(0, 1L << 60).build(), 16, "2 GiB");
    refused(four.toBuilder().addShape(1 << 20).addShape(1 << 20).build(), 16, "2 GiB");
    refused(four.toBuilder().setElementValue(99).build(), 16, "unknown");
    refused(four.toBuilder().setShape(0, LIMIT).build(), 4L * LIMIT, "max_request_bytes");
  }

  @Test
  void a_tensor_whose_bytes_do_not_fit_its_shape_is_not_sent() {
    TensorData data = CutTensors.of(Role.INPUT, "0", Element.FLOAT32, new Random(0), 3);
    BatchToCompute batch = new BatchToCompute(new BatchId(CutTensors.TRAINER, 0, 1), CutBatch.getDefaultInstance(),
        List.of(new TensorData(data.tensor().toBuilder().setShape(0, 4).build(), data.bytes())));
    assertThatThrownBy(() -> HeterCodec.batch(header(), batch, 4096)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("12 bytes instead of 16");
  }
}
