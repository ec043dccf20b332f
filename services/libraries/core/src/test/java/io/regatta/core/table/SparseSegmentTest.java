package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.hash.Mix64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Tests that any segment is a map from id to row number, for any ids. */
class SparseSegmentTest {

  /** As both halves of an id: signalling and quiet NaN, infinities, denormal, the two zeros. */
  private static final int[] ODD_BITS = {0x7f80_0001, 0x7fa0_0000, 0xffbf_ffff, 0x7fc0_0000, 0xffff_ffff, 0x7f80_0000,
      0xff80_0000, 1, 0x8000_0000, 0};

  @Property(tries = 200)
  void isAMapFromIdToNumber(@ForAll @Size(max = 500) List<@IntRange(min = -300, max = 300) Integer> ids,
      @ForAll @FloatRange(min = 0.5f, max = 0.9f) float load, @ForAll @IntRange(min = 1, max = 40) int width) {
    SparseSegment segment = new SparseSegment(width, load);
    Map<Long, Integer> model = new LinkedHashMap<>();
    for (long id : ids) {
      int row = find(segment, id);
      assertThat(row).isEqualTo(model.getOrDefault(id, SparseSegment.NONE));
      if (row < 0) {
        model.put(id, segment.add(id, SparseTable.hash(id)));
      }
    }
    check(segment, model, width);
  }

  /** Rows that go leave their numbers to later ones, at whatever point of the index's growth. */
  @Property(tries = 300)
  void rowsMayGo(@ForAll long seed, @ForAll @FloatRange(min = 0.5f, max = 0.9f) float load,
      @ForAll @IntRange(min = 10, max = 2000) int ids) {
    SparseSegment segment = new SparseSegment(2, load);
    Map<Long, Integer> model = new LinkedHashMap<>();
    Random random = new Random(seed);
    int most = 0;
    for (int i = 0; i < 6000; i++) {
      long id = random.nextInt(ids) * 7L;
      int row = find(segment, id);
      assertThat(row).isEqualTo(model.getOrDefault(id, SparseSegment.NONE));
      if (row < 0) {
        row = segment.add(id, SparseTable.hash(id));
        assertThat(model.put(id, row)).isNull();
        assertThat(segment.slab(row)[segment.offset(row)]).isZero();
        segment.slab(row)[segment.offset(row)] = 5; // is to be zero again when it is born again
      } else if (random.nextInt(i / 1000 % 2 == 0 ? 4 : 2) == 0) {
        segment.remove(row);
        model.remove(id);
        assertThat(segment.holds(row)).isFalse();
      }
      most = Math.max(most, model.size());
    }
    assertThat(segment.size()).isEqualTo(most);
    for (long id = 0; id < ids; id++) {
      int row = find(segment, id * 7);
      assertThat(row).isEqualTo(model.getOrDefault(id * 7, SparseSegment.NONE));
      assertThat(row < 0 || segment.holds(row)).isTrue();
    }
    assertThat(IntStream.range(0, segment.size()).filter(segment::holds).count()).isEqualTo(model.size());
  }

  @Test
  void findsAllRowsAtEveryPointOfItsGrowth() {
    SparseSegment segment = new SparseSegment(20, 0.5f);
    for (int n = 0; n < 3000; n++) {
      assertThat(find(segment, n)).isEqualTo(SparseSegment.NONE);
      assertThat(segment.add(n, SparseTable.hash(n))).isEqualTo(n);
      for (int id = 0; id <= n; id += 1 + n / 50) {
        assertThat(find(segment, id)).isEqualTo(id);
      }
    }
  }

  @Test
  void idsThatTheIndexCannotTellApartAreFound() {
    SparseSegment segment = new SparseSegment(1, 0.75f);
    long[] ids = alike();
    assertThat(Mix64.mix(ids[200])).isEqualTo(200L << 48 | 0x1234_5678L);
    for (int i = 0; i < ids.length; i++) {
      assertThat(find(segment, ids[i])).isEqualTo(SparseSegment.NONE);
      assertThat(segment.add(ids[i], SparseTable.hash(ids[i]))).isEqualTo(i);
    }
    for (int i = 0; i < ids.length; i++) {
      assertThat(find(segment, ids[i])).isEqualTo(i);
    }
  }

  /** Many rounds, so that compiled code moves these bits as well. */
  @Test
  void idsWhoseBitsAreNoNumbersAsFloatsStayAsTheyAre() {
    for (int round = 0; round < 5000; round++) {
      SparseSegment segment = new SparseSegment(3, 0.6f);
      Map<Long, Integer> model = new LinkedHashMap<>();
      for (int high : ODD_BITS) {
        for (int low : ODD_BITS) {
          long id = (long) high << 32 | low & 0xffff_ffffL;
          model.put(id, segment.add(id, SparseTable.hash(id)));
        }
      }
      model.forEach((id, row) -> {
        if (segment.id(row) != id || find(segment, id) != row) {
          throw new AssertionError("id " + Long.toHexString(id) + " of row " + row + " is "
              + Long.toHexString(segment.id(row)));
        }
      });
    }
  }

  @Test
  void rowsLieInSlabsOfAtMost16384Floats_orOneRow() {
    for (int width : new int[] {1, 30, 5000, 20_000}) {
      SparseSegment segment = new SparseSegment(width, 0.75f);
      int largest = 0;
      for (int n = 0; n < 40; n++) {
        int row = segment.add(n, SparseTable.hash(n));
        largest = Math.max(largest, segment.slab(row).length);
      }
      assertThat(largest).isLessThanOrEqualTo(Math.max(1 << 14, width + SparseSegment.ID_FLOATS));
    }
  }

  /** Ids whose hashes agree in the segment, in the bits beside a row number and in where the search begins. */
  static long[] alike() {
    return LongStream.range(0, 256).map(i -> unmix(i << 48 | 0x1234_5678L)).toArray();
  }

  /** Inverse of {@code Mix64.mix}: its steps backwards. */
  static long unmix(long z) {
    z = (z ^ z >>> 31 ^ z >>> 62) * 0x319642b2d24d8ec3L;
    z = (z ^ z >>> 27 ^ z >>> 54) * 0x96de1b173f119089L;
    return z ^ z >>> 30 ^ z >>> 60;
  }

  private static void check(SparseSegment segment, Map<Long, Integer> model, int width) {
    assertThat(segment.size()).isEqualTo(model.size());
    model.forEach((id, row) -> {
      assertThat(segment.id(row)).isEqualTo(id);
      assertThat(find(segment, id)).isEqualTo(row);
      for (int k = 0; k < width; k++) {
        assertThat(segment.slab(row)[segment.offset(row) + k]).isZero();
      }
    });
  }

  private static int find(SparseSegment segment, long id) {
    return segment.find(id, SparseTable.hash(id));
  }
}
