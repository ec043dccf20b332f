package io.regatta.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Budgets of the heap against plain numbers: what is taken and given back, and what those of one process share. */
class HeapBudgetTest {

  private static final long HEAP = Runtime.getRuntime().maxMemory();
  private static final HeapBudget[] SHARED = {HeapBudget.REQUESTS, HeapBudget.ANSWERS, HeapBudget.PARAMETERS};

  /** An eighth of the heap, or 96 MiB if that is more, but at most half of it. */
  private static long kept() {
    return Math.max(HEAP / 8, Math.min(HEAP / 2, 96L * 1024 * 1024));
  }

  @Property(tries = 50)
  void takesAllOrNothing(@ForAll Random random) {
    int limit = random.nextInt(20);
    HeapBudget budget = new HeapBudget(limit);
    int taken = 0;
    for (int i = 0; i < 40; i++) {
      int bytes = random.nextInt(12);
      switch (random.nextInt(4)) {
        case 0 -> {
          boolean fits = taken + bytes <= limit;
          assertThat(budget.take(bytes)).isEqualTo(fits || bytes == 0);
          taken += fits ? bytes : 0;
        }
        case 1 -> {
          boolean fits = taken + bytes <= limit;
          assertThat(budget.takeInTurn(bytes)).isEqualTo(fits || bytes == 0);
          taken += fits ? bytes : 0;
        }
        case 2 -> {
          budget.add(bytes);
          taken += bytes;
        }
        default -> {
          int back = Math.min(bytes, taken);
          budget.giveBack(back);
          taken -= back;
        }
      }
      assertThat(budget.taken()).isEqualTo(taken);
      assertThat(budget.free()).isEqualTo(Math.max(0, limit - taken));
      assertThat(budget.limit()).isEqualTo(limit).isEqualTo(budget.most());
    }
  }

  @Test
  void areSharesOfTheHeap() {
    assertThat(HeapBudget.REQUESTS.limit()).isEqualTo(HEAP / 2);
    assertThat(HeapBudget.ANSWERS.limit()).isEqualTo(HEAP / 4).isEqualTo(HeapBudget.answers().limit());
    assertThat(HeapBudget.PARAMETERS.limit()).isEqualTo(HEAP - kept() - HEAP / 8)
        .isEqualTo(HeapBudget.parameters().limit());
    assertThat(HeapBudget.answers()).isNotSameAs(HeapBudget.ANSWERS);
    assertThat(HeapBudget.parameters()).isNotSameAs(HeapBudget.PARAMETERS);
  }

  /** Each has what its own limit leaves, and what the others leave of the total. */
  @Property(tries = 20)
  void shareWhatTheHeapHas(@ForAll Random random) {
    long total = HEAP - kept();
    long[] taken = new long[SHARED.length];
    try {
      for (int i = 0; i < 30; i++) {
        int of = random.nextInt(SHARED.length);
        long bytes = 1 + random.nextLong(HEAP / 3);
        long all = taken[0] + taken[1] + taken[2];
        boolean fits = taken[of] + bytes <= SHARED[of].limit() && all + bytes <= total;
        switch (random.nextInt(3)) {
          case 0 -> {
            assertThat(SHARED[of].take(bytes)).isEqualTo(fits);
            taken[of] += fits ? bytes : 0;
          }
          case 1 -> {
            boolean alone = taken[of] == 0 && bytes <= SHARED[of].limit();
            assertThat(SHARED[of].takeInTurn(bytes)).as("one is always possible").isEqualTo(fits || alone);
            taken[of] += fits || alone ? bytes : 0;
          }
          default -> {
            SHARED[of].giveBack(taken[of]);
            taken[of] = 0;
          }
        }
        all = taken[0] + taken[1] + taken[2];
        for (int b = 0; b < SHARED.length; b++) {
          assertThat(SHARED[b].taken()).isEqualTo(taken[b]);
          assertThat(SHARED[b].free()).isEqualTo(Math.max(0, Math.min(SHARED[b].limit() - taken[b], total - all)));
        }
        assertThat(HeapBudget.REQUESTS.most()).isEqualTo(Math.min(HEAP / 2, total - taken[2]));
        assertThat(HeapBudget.ANSWERS.most()).isEqualTo(Math.min(HEAP / 4, total - taken[2]));
        assertThat(HeapBudget.PARAMETERS.most()).isEqualTo(HeapBudget.PARAMETERS.limit());
        assertThat(HeapBudget.inWords()).isEqualTo("of this process's heap of " + HEAP + " bytes parameters take "
            + taken[2] + ", requests " + taken[0] + ", answers " + taken[1] + ", and " + kept() + " stay free");
      }
    } finally {
      for (int b = 0; b < SHARED.length; b++) {
        SHARED[b].giveBack(taken[b]);
      }
    }
  }

  @Test
  void wakesOnceWhoeverWaits_whenBytesComeBack() {
    HeapBudget budget = new HeapBudget(10);
    budget.add(10);
    List<Long> freeWhenWoken = new ArrayList<>();
    Runnable wake = () -> freeWhenWoken.add(budget.free());
    budget.whenFree(wake);
    budget.whenFree(wake);
    budget.giveBack(0);
    assertThat(freeWhenWoken).as("nothing has come back").isEmpty();
    budget.giveBack(4);
    budget.giveBack(3);
    assertThat(freeWhenWoken).containsExactly(4L);
    budget.whenFree(wake);
    budget.giveBack(3);
    assertThat(freeWhenWoken).containsExactly(4L, 10L);
  }

  @Test
  void wakesWhoeverWaits_whenAnotherBudgetOfTheProcessGetsBytesBack() {
    int[] woken = new int[1];
    HeapBudget.PARAMETERS.add(1);
    HeapBudget.ANSWERS.whenFree(() -> woken[0]++);
    HeapBudget.PARAMETERS.giveBack(1);
    assertThat(woken[0]).isEqualTo(1);
    HeapBudget.ANSWERS.add(1);
    HeapBudget.ANSWERS.giveBack(1); // it also waited for its own
  }
}
