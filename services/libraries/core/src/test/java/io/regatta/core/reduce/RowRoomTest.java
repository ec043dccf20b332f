package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.Long2IntLinkedOpenHashMap;
import java.util.Random;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RowRoomTest {

  @Property(tries = 60)
  void numbersIdsInTheOrderInWhichTheyComeAndKeepsTheirFloatsUseAfterUse(@ForAll @IntRange(min = 1, max = 9000) int ids,
      @ForAll Random random) {
    RowRoom room = new RowRoom();
    for (int use = 0; use < 3; use++) {
      int dim = 1 + random.nextInt(2);
      int number = 1 + random.nextInt(ids);
      room.clear(dim);
      Long2IntLinkedOpenHashMap expected = new Long2IntLinkedOpenHashMap();
      for (int i = 0; i < number; i++) {
        long id = random.nextInt(ids) - ids / 2L;
        int row = expected.computeIfAbsent(id, key -> expected.size());
        assertThat(room.rowOf(id)).isEqualTo(row);
        room.valuesOf(row)[row % RowRoom.SLAB_ROWS * dim + dim - 1] = id;
      }
      assertThat(room.size()).isEqualTo(expected.size());
      expected.forEach((id, row) -> {
        assertThat(room.idsOf(row)[row % RowRoom.SLAB_ROWS]).isEqualTo(id);
        assertThat(room.valuesOf(row)[row % RowRoom.SLAB_ROWS * dim + dim - 1]).isEqualTo(id.floatValue());
      });
      room.done();
    }
  }

  @Property(tries = 3)
  void isUsableAgainWhenItHasGivenItsMemoryBack(@ForAll long seed) {
    RowRoom room = new RowRoom();
    for (int use = 0; use < 2; use++) {
      room.clear(1);
      SplittableRandom random = new SplittableRandom(seed);
      for (int row = 0; row < 300_000; row++) {
        if (room.rowOf(random.nextLong()) != row) {
          throw new AssertionError("row " + row + " of use " + use);
        }
      }
      room.done();
    }
  }

  @Test
  void keepsItsMemory_upToSoManyRows() {
    RowRoom room = new RowRoom();
    for (int rows : new int[] {1, 1 << 18}) {
      fill(room, rows);
      float[] before = room.valuesOf(0);
      room.done();
      fill(room, 1);
      assertThat(room.valuesOf(0)).as("after %d rows", rows).isSameAs(before);
    }
    fill(room, (1 << 18) + 1);
    float[] before = room.valuesOf(0);
    room.done();
    fill(room, 1);
    assertThat(room.valuesOf(0)).isNotSameAs(before);
  }

  private static void fill(RowRoom room, int rows) {
    room.clear(1);
    for (long id = 0; id < rows; id++) {
      room.rowOf(id);
    }
  }
}
