package io.regatta.core.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The parts of shards in a trainer's memory are those that a copy would give. */
class DenseMemoryTest {

  private static float[] ramp(int n) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = i * 0.5f - 7;
    }
    return v;
  }

  private static ByteBuffer bytes(float[] v) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(v.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(v);
    return bytes;
  }

  @Property(tries = 200)
  void slicesAreReadAndWrittenWhereTheyLie(@ForAll @IntRange(min = 1, max = 5) int shards,
      @ForAll @IntRange(min = 1, max = 20_000) int a, @ForAll @IntRange(min = 1, max = 50) int b,
      @ForAll @IntRange(min = 1, max = 700) int rows, @ForAll boolean direct, @ForAll @IntRange(min = 1, max = 9000) int cut,
      @ForAll boolean times) {
    DensePartition partition = DensePartition.of(List.of(new DenseVariable("a", List.of(a)),
        new DenseVariable("b", List.of(b)), new DenseVariable("c", List.of(rows, 3))), shards, 64);
    float[] lying = ramp(partition.numel());
    float by = times ? 0.3f : 1;
    float[] flat = lying.clone();
    for (int i = 0; i < flat.length; i++) {
      flat[i] *= by;
    }
    DenseMemory memory = direct ? DenseMemory.of(bytes(lying).order(ByteOrder.BIG_ENDIAN)) : DenseMemory.of(lying);
    DenseMemory from = times ? memory.times(by) : memory;
    float[] copied = new float[flat.length];
    DenseMemory to = direct ? DenseMemory.of(bytes(copied)) : DenseMemory.of(copied);
    for (int s = 0; s < shards; s++) {
      DenseSlice slice = from.slice(partition, s);
      float[] expected = partition.slice(flat, s);
      assertThat(slice.toArray()).isEqualTo(expected);
      ByteBuffer wire = bytes(expected);
      DenseSink sink = to.slice(partition, s).sink();
      for (int at = 0; at < expected.length; at += cut) {
        int n = Math.min(cut, expected.length - at);
        ByteBuffer piece = ByteBuffer.allocate(n * Float.BYTES);
        slice.copy(at, n, piece);
        assertThat(piece.flip()).isEqualTo(wire.slice(at * Float.BYTES, n * Float.BYTES));
        ByteBuffer where = slice.direct(at, n);
        assertThat(where == null || where.equals(piece)).isTrue();
        assertThat(direct && shards == 1 && !times ? where : piece).isNotNull();
        sink.put(piece);
      }
    }
    assertThat(to.toArray()).isEqualTo(flat);
    from.takeBack();
    lying[0] = -1;
    assertThat(from.toArray()).isEqualTo(flat);
  }

  @Test
  void whatIsMultipliedOnReadingIsFiniteOrNotAsItIsRead() {
    float[] v = new float[20_000];
    v[17_000] = Float.MAX_VALUE;
    for (DenseMemory m : List.of(DenseMemory.of(v), DenseMemory.of(bytes(v)))) {
      assertThat(m.times(0.5f).nonFinite()).isEqualTo(-1);
      assertThat(m.times(2).nonFinite()).isEqualTo(17_000);
      assertThat(m.knownFinite().times(2).nonFinite()).as("what is known of the elements is not known of twice them").isEqualTo(17_000);
      assertThat(m.times(2).at(17_000)).isEqualTo(Float.POSITIVE_INFINITY);
    }
  }

  @Test
  void aShardsVectorIsWrittenToItsPlaces() {
    DensePartition partition = DensePartition.of(List.of(new DenseVariable("a", List.of(30_000))), 2, 64);
    for (DenseMemory to : List.of(DenseMemory.of(new float[30_000]), DenseMemory.of(bytes(new float[30_000])))) {
      to.slice(partition, 1).write(DenseMemory.of(ramp(15_000)));
      float[] flat = to.toArray();
      assertThat(flat[14_999]).isZero();
      assertThat(flat[15_000]).isEqualTo(-7);
      assertThat(flat[29_999]).isEqualTo(14_999 * 0.5f - 7);
    }
  }

  @Test
  void nonFiniteElementsAreFoundWhereverTheyLie() {
    float[] v = new float[20_000];
    assertThat(DenseMemory.of(bytes(v)).nonFinite()).isEqualTo(-1);
    v[19_999] = Float.NaN;
    v[17_000] = Float.NEGATIVE_INFINITY;
    for (DenseMemory m : List.of(DenseMemory.of(v), DenseMemory.of(bytes(v)))) {
      assertThat(m.nonFinite()).isEqualTo(17_000);
      assertThat(m.at(17_000)).isEqualTo(Float.NEGATIVE_INFINITY);
    }
    DenseBlocks received = new DenseBlocks(v.length, new BlockPool());
    received.put(bytes(v));
    assertThat(received.nonFinite()).isEqualTo(17_000);
  }

  @Property(tries = 200)
  void theFirstNonFiniteElementIsFound(@ForAll @IntRange(min = 1, max = 20_000) int n, @ForAll long seed) {
    Random random = new Random(seed);
    float[] special = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};
    float[] finite = {0f, -0f, Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_VALUE, 1};
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = finite[random.nextInt(finite.length)];
    }
    assertThat(NonFinite.find(v)).isEqualTo(-1);
    int first = n;
    for (int k = 0; k < 3; k++) {
      int at = random.nextInt(n);
      v[at] = special[k];
      first = Math.min(first, at);
    }
    assertThat(NonFinite.find(v)).isEqualTo(first);
  }

  @Test
  void memoryThatIsNoVectorIsRefused() {
    assertThat(DenseMemory.of((float[]) null)).isNull();
    assertThatThrownBy(() -> DenseMemory.of(ByteBuffer.allocate(8))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("direct");
    assertThatThrownBy(() -> DenseMemory.of(ByteBuffer.allocateDirect(7))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("7 bytes");
  }
}
