package io.regatta.protocol.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.dense.LittleEndian;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The frames from a trainer's direct memory, shard by shard: cut at the runs of a shard, so that long ones are not
 * copied.
 */
class ChunksTest {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int SHORT = 8192;
  /** As CTR-DNN has them. */
  private static final List<DenseVariable> LAYERS = List.of(new DenseVariable("w1", List.of(273, 400)),
      new DenseVariable("b1", List.of(400)), new DenseVariable("w2", List.of(400, 400)),
      new DenseVariable("b2", List.of(400)), new DenseVariable("w3", List.of(400, 400)),
      new DenseVariable("b3", List.of(400)), new DenseVariable("w4", List.of(400, 2)),
      new DenseVariable("big", List.of(1 << 20)));

  @Test
  void longRunsOfEveryShardAreSentFromWhereTheyLie() {
    for (int shards = 1; shards <= 3; shards++) {
      DensePartition partition = DensePartition.of(LAYERS, shards, 1024);
      float[] flat = new float[partition.numel()];
      for (int i = 0; i < flat.length; i++) {
        flat[i] = i;
      }
      DenseMemory memory = DenseMemory.of(direct(flat));
      for (int s = 0; s < shards; s++) {
        DenseSlice slice = memory.slice(partition, s);
        float[] sent = new float[slice.size()];
        int next = 0;
        int copied = 0;
        for (Chunks chunks = chunks().dense(slice); chunks.hasNext(); ) {
          Outgoing out = chunks.next();
          ByteBuffer payload = out.frame().payload().duplicate().order(ByteOrder.LITTLE_ENDIAN);
          assertThat(payload.remaining()).isBetween(1, CHUNK_BYTES);
          assertThat(out.frame().header().getDense().getOffset()).isEqualTo(next);
          copied += out.memory() == null ? 0 : payload.remaining() / Float.BYTES;
          int n = payload.remaining() / Float.BYTES;
          payload.asFloatBuffer().get(sent, next, n);
          next += n;
          out.release();
        }
        assertThat(sent).isEqualTo(partition.slice(flat, s));
        assertThat(copied).as("of shard %d of %d", s, shards).isLessThan(LAYERS.size() * SHORT)
            .isLessThan(slice.size() / 10);
      }
    }
  }

  @Test
  void aShardWithoutDenseElementsIsSentAnEmptyVector() {
    DensePartition partition = DensePartition.of(List.of(new DenseVariable("b", List.of(1))), 2, 1024);
    DenseMemory memory = DenseMemory.of(direct(new float[1]));
    for (int s = 0; s < 2; s++) {
      DenseSlice slice = memory.slice(partition, s);
      Chunks chunks = chunks().dense(slice);
      assertThat(chunks.next().frame().payload().remaining()).isEqualTo(slice.size() * Float.BYTES);
      assertThat(chunks.hasNext()).isFalse();
    }
  }

  private static Chunks chunks() {
    return new Chunks(TensorMessage.newBuilder().setPush(Push.getDefaultInstance()), others -> { }, CHUNK_BYTES);
  }

  private static ByteBuffer direct(float[] values) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(values.length * Float.BYTES);
    LittleEndian.put(values, 0, values.length, bytes);
    return bytes.flip();
  }
}
