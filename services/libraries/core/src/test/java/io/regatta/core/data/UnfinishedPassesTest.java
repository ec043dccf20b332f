package io.regatta.core.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Passes that are resumed by any number of replicas, again and again, until they end: each batch of each part is taken once. */
class UnfinishedPassesTest {

  private static final int PASSES = 2;
  private static final int BATCHES = 12;

  private final Map<String, Integer> taken = new HashMap<>();

  @Property(tries = 300)
  void takesEachBatchOnce_whateverTheNumbersOfReplicas(@ForAll @IntRange(min = 1, max = 5) int first,
      @ForAll @IntRange(min = 1, max = 5) int second, @ForAll @IntRange(min = 1, max = 5) int third, @ForAll long seed) {
    taken.clear();
    Random random = new Random(seed);
    int firstPass = random.nextInt(PASSES);
    List<List<Part>> replicas = new ArrayList<>();
    for (int r = 0; r < first; r++) {
      replicas.add(List.of(new Part(firstPass, r, first, 0)));
    }
    for (int number : new int[] {second, third}) {
      List<Replica> stopped = new ArrayList<>();
      for (List<Part> parts : replicas) {
        List<Part> left = advance(parts, random.nextInt(BATCHES));
        stopped.add(new Replica(1, left));
      }
      replicas = UnfinishedPasses.of(stopped, number).orElseThrow().parts();
    }
    replicas.forEach(parts -> advance(parts, Integer.MAX_VALUE));
    taken.keySet().removeIf(batch -> !batch.startsWith(firstPass + "/"));
    assertThat(taken).hasSize(first * BATCHES);
    assertThat(taken.values()).containsOnly(1);
  }

  /** Takes {@code batches} batches, and keeps finished parts in the list, as replicas do until the next pass begins. */
  private List<Part> advance(List<Part> parts, int batches) {
    List<Part> left = new ArrayList<>();
    int more = batches;
    for (Part part : parts) {
      Part at = part;
      for (; more > 0 && at.batches() < BATCHES; more--) {
        taken.merge(at.pass() + "/" + at.part() + "/" + at.batches(), 1, Integer::sum);
        at = at.after(1);
      }
      left.add(at);
    }
    return left;
  }

  @Test
  void keepsEachReplicasOwn_whenTheirNumberIsTheSame() {
    List<Replica> before = List.of(new Replica(9, List.of(new Part(1, 0, 0, 3))), new Replica(4, List.of(new Part(0, 1, 0, 4))));
    UnfinishedPasses left = UnfinishedPasses.of(before, 2).orElseThrow();
    assertThat(left.first()).isZero();
    assertThat(left.last()).isEqualTo(1);
    assertThat(left.parts()).containsExactly(before.get(0).parts(), before.get(1).parts());
  }

  @Test
  void leavesNothingOut_whenReplicasAreInDifferentPasses() {
    List<Replica> before = List.of(new Replica(9, List.of(new Part(1, 0, 2, 3))), new Replica(4, List.of(new Part(0, 1, 2, 4))));
    UnfinishedPasses left = UnfinishedPasses.of(before, 1).orElseThrow();
    assertThat(left.parts()).containsExactly(List.of(new Part(0, 1, 2, 4), new Part(1, 0, 2, 3), new Part(1, 1, 2, 0)));
  }

  @Test
  void beginsAtTheBeginning_whenAReplicaHasMadeNoStep() {
    List<Replica> before = List.of(new Replica(9, List.of(new Part(0, 0, 2, 9))), new Replica(0, List.of()));
    assertThat(UnfinishedPasses.of(before, 1).orElseThrow().parts()).containsExactly(
        List.of(new Part(0, 0, 2, 9), new Part(0, 1, 2, 0)));
  }

  @Test
  void isEmpty_whenNobodyElseCanReadTheRest() {
    List<Replica> own = List.of(new Replica(9, List.of(new Part(0, 0, 0, 9))), new Replica(1, List.of(new Part(0, 1, 0, 1))));
    assertThat(UnfinishedPasses.of(own, 3)).isEmpty();
    assertThat(UnfinishedPasses.of(List.of(new Replica(3, List.of())), 1)).isEmpty();
    assertThat(UnfinishedPasses.of(List.of(), 1)).isEmpty();
    assertThat(UnfinishedPasses.of(List.of(own.get(0), new Replica(2, List.of())), 2)).isEmpty();
  }
}
