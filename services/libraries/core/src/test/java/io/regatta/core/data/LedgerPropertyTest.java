package io.regatta.core.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class LedgerPropertyTest {

  /** Over any deaths, departures and newcomers each example is trained once. */
  @Property(tries = 500)
  void everyExampleIsTrainedExactlyOnce(@ForAll @IntRange(max = 300) int examples, @ForAll @IntRange(min = 1, max = 9) int batch,
      @ForAll @IntRange(min = 1, max = 5) int ranks, @ForAll boolean dropLast, @ForAll long seed) {
    Random random = new Random(seed);
    Ledger ledger = new Ledger(examples, batch, dropLast, ranks);
    int[] times = new int[examples];
    long trained = 0;
    while (!ledger.isDone()) {
      if (random.nextInt(4) == 0) {
        change(ledger, random);
      } else {
        BitSet stepping = new BitSet();
        for (int rank = 0; rank < ledger.ranks(); rank++) {
          Spans mine = ledger.next(rank);
          stepping.set(rank, !mine.isEmpty() && random.nextInt(8) > 0); // a rank without data joins the step
          if (stepping.get(rank)) {
            assertThat(mine.size()).isLessThanOrEqualTo(batch);
            count(mine, times);
          }
        }
        ledger.trained(stepping);
      }
      ledger = Ledger.of(ledger.state());
      trained = Arrays.stream(times).sum();
      assertThat(ledger.left().size()).isEqualTo(examples - trained);
    }
    assertThat(Arrays.stream(times).max().orElse(0)).isLessThanOrEqualTo(1);
    long left = examples - trained;
    assertThat(left).isBetween(0L, dropLast ? (long) batch * ledger.ranks() - 1 : 0);
    assertThat(ledger.left().size()).isEqualTo(left);
  }

  /** Some stay, in another order, and hold their batches or not; others come. */
  private static void change(Ledger ledger, Random random) {
    List<Integer> before = new ArrayList<>();
    for (int rank = 0; rank < ledger.ranks(); rank++) {
      if (random.nextInt(3) > 0) {
        before.add(rank);
      }
    }
    while (before.isEmpty() || before.size() < 5 && random.nextBoolean()) {
      before.add(-1);
    }
    Collections.shuffle(before, random);
    BitSet holding = new BitSet();
    for (int rank = 0; rank < before.size(); rank++) {
      holding.set(rank, before.get(rank) >= 0 && !ledger.next(before.get(rank)).isEmpty() && random.nextBoolean());
    }
    List<Spans> held = holding.stream().mapToObj(rank -> ledger.next(before.get(rank))).toList();
    ledger.redeal(before.stream().mapToInt(i -> i).toArray(), holding);
    assertThat(holding.stream().mapToObj(ledger::next).toList()).as("who holds a batch goes on with it").isEqualTo(held);
  }

  private static void count(Spans spans, int[] times) {
    for (int run = 0; run < spans.runs(); run++) {
      for (long i = spans.from(run); i < spans.to(run); i++) {
        times[(int) i]++;
      }
    }
  }

  /** Without a change the assignment is that to workers of a fixed number: window by window, part by part. */
  @Property(tries = 100)
  void windowsAreCutIntoPartsInTheOrderOfRanks(@ForAll @IntRange(max = 100) int examples,
      @ForAll @IntRange(min = 1, max = 7) int batch, @ForAll @IntRange(min = 1, max = 4) int ranks, @ForAll boolean dropLast) {
    Ledger ledger = new Ledger(examples, batch, dropLast, ranks);
    int window = batch * ranks;
    for (int rank = 0; rank < ranks; rank++) {
      Iterator<Spans> upcoming = ledger.upcoming(rank);
      for (int from = 0; from < examples; from += window) {
        int size = Math.min(window, examples - from);
        Spans part = Spans.of(from + size * rank / ranks, from + size * (rank + 1) / ranks);
        if (!part.isEmpty() && !(dropLast && size < window)) {
          assertThat(upcoming.next()).isEqualTo(part);
        }
      }
      assertThat(upcoming.hasNext()).isFalse();
    }
  }

  @Example
  void aBatchThatNobodyDealtIsRefused() {
    Ledger ledger = new Ledger(4, 2, false, 1);
    BitSet one = BitSet.valueOf(new long[] {1});
    ledger.trained(one);
    ledger.trained(one);
    assertThatThrownBy(() -> ledger.trained(one)).isInstanceOf(IllegalStateException.class).hasMessageContaining("rank 0");
  }

  @Example
  void spansThatOverlapAreRefused() {
    assertThatThrownBy(() -> Spans.union(List.of(Spans.of(0, 4), Spans.of(3, 5)))).isInstanceOf(IllegalStateException.class);
    assertThat(Spans.union(List.of(Spans.of(4, 6), Spans.of(0, 4), Spans.of(9, 10)))).hasToString("[0 .. 6, 9 .. 10)");
    assertThat(Spans.of(3, 3)).isEqualTo(Spans.NONE);
    assertThat(Spans.union(List.of(Spans.of(0, 3), Spans.of(5, 9))).sub(2, 5)).hasToString("[2 .. 3, 5 .. 7)");
  }
}
