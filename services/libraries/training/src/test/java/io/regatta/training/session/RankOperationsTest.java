package io.regatta.training.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.ListValue;
import com.google.protobuf.Value;
import io.regatta.core.collective.WireType;
import io.regatta.core.data.Spans;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.testing.TestClock;
import io.regatta.protocol.gather.ElectionResult;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that die at any call and newcomers, on a model whose parameter is the sum of all that it was trained on. */
class RankOperationsTest {

  private static final int MAX = 4;
  private static final int EXAMPLES = 37;
  private static final int BATCH = 2;
  private static final int PASSES = 4;
  private static final long DEADLINE_SECONDS = 30;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  /** The state of a rank at its end. */
  private record End(double parameter, long steps, List<Double> sums, boolean killed) {}

  /** A model of one parameter, the sum of the numbers of the examples that it was trained on, and a count of its steps. */
  private static class Sum implements ElasticState {
    double parameter;
    long steps;

    @Override
    public int floats() {
      return 2;
    }

    @Override
    public long[] progress() {
      return new long[] {steps};
    }

    @Override
    public void write(FloatBuffer to) {
      to.put((float) parameter).put(steps);
    }

    @Override
    public void take(FloatBuffer from, long[] progress, boolean own) {
      parameter = from.get();
      steps = progress[0];
      assertThat(from.get()).isEqualTo(steps);
    }
  }

  /** One rank's program: passes over the data, and between them calls with the others. */
  private static End train(SharedGenerations.Member member) {
    Awaiting awaiting = new Awaiting();
    RankOperations rank = new RankOperations(TestClock.at(0), "trainer", member, awaiting::await);
    Sum model = new Sum();
    List<Double> sums = new ArrayList<>();
    try {
      rank.enter();
      rank.calls().gather("start", "start", Int32Value.of(member.rank()));
      rank.keeps(model, "collective.store");
      for (int pass = 0; pass < PASSES; pass++) {
        if (rank.passes().begin(EXAMPLES, BATCH, false)) {
          while (rank.passes().isUnderWay()) {
            step(rank, model);
          }
        }
        for (int call = 0; call < 3; call++) {
          double mine = model.parameter;
          ListValue same = ListValue.newBuilder().addValues(Value.newBuilder().setNumberValue(mine))
              .addValues(Value.newBuilder().setNumberValue(call)).build();
          assertThat(rank.calls().gather("call", "call", same)).hasSizeBetween(1, MAX).containsOnly(same);
          sums.add(mine);
        }
        float[] mean = {(float) model.parameter};
        rank.calls().mean("mean", mean);
        assertThat((double) mean[0]).isEqualTo(model.parameter);
        rank.calls().mean("mean of nothing", new float[0]);
        float[] first = {member.rank() == 0 ? (float) model.parameter : -1};
        rank.calls().ofTheFirst("of the first", first);
        assertThat((double) first[0]).as("rank 0's, or this one's own if the call is behind")
            .isIn(model.parameter, -1.0);
        sums.add((double) first[0]);
        ElectionResult sum = ElectionResult.newBuilder().setDigest(Double.doubleToLongBits(model.parameter)).build();
        assertThat(rank.calls().byTheLowest("deed", "deed", member.rank() % 2 == 0, () -> sum)).isIn(Optional.empty(), Optional.of(sum));
      }
      return new End(model.parameter, model.steps, sums, false);
    } catch (Cancelled e) {
      return new End(model.parameter, model.steps, sums, true);
    }
  }

  private static void step(RankOperations rank, Sum model) {
    boolean[] elsewhere = new boolean[1];
    boolean[] newcomers = new boolean[1];
    Spans mine = rank.passes().next();
    rank.perform(new RankOperation() {
      @Override
      public String name() {
        return "step " + model.steps;
      }

      @Override
      public boolean holdsBatch() {
        return !mine.isEmpty();
      }

      @Override
      public Result attempt() {
        RankGroup peers = rank.peers();
        assertThat(rank.passes().next()).as("a batch that is held stays").isEqualTo(mine.isEmpty() ? rank.passes().next() : mine);
        ByteBuffer memory = Recovery.memory(3 + MAX);
        FloatBuffer floats = Recovery.floats(memory);
        floats.put(0, peers.newcomers() ? 1 : 0);
        floats.put(1, sum(mine));
        floats.put(2, rank.passes().next().isEmpty() ? 1 : 0); // also after all has been dealt anew
        floats.put(3 + peers.rank(), mine.isEmpty() ? 0 : 1);
        rank.await("sum", peers.sum(memory));
        newcomers[0] = floats.get(0) > 0;
        BitSet trained = new BitSet();
        for (int r = 0; r < MAX; r++) {
          trained.set(r, floats.get(3 + r) > 0);
        }
        rank.passes().trained(trained);
        if (trained.isEmpty()) {
          if (floats.get(2) == peers.worldSize()) {
            rank.passes().end();
          }
        } else {
          model.parameter += floats.get(1);
          model.steps++;
        }
        return Result.NONE;
      }

      @Override
      public void completed(Result result) {
        elsewhere[0] = true;
      }
    });
    if (newcomers[0] && !elsewhere[0]) {
      rank.reform("newcomers");
    }
  }

  private static float sum(Spans spans) {
    float sum = 0;
    for (int run = 0; run < spans.runs(); run++) {
      for (long i = spans.from(run); i < spans.to(run); i++) {
        sum += i + 1;
      }
    }
    return sum;
  }

  private Future<End> start(SharedGenerations.Member member) {
    Callable<End> run = () -> {
      try {
        member.reform().get();
        return train(member);
      } finally {
        member.leave();
      }
    };
    return threads.submit(run);
  }

  /** One rank alone, whose generations end and form as a test says; it notes how they are asked for. */
  private static final class Alone implements RankGroup {
    final List<Boolean> inVain = new ArrayList<>();
    final List<Long> pauses = new ArrayList<>();
    boolean elastic = true;
    boolean lost;
    int unformed;

    @Override
    public boolean isElastic() {
      return elastic;
    }

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public int worldSize() {
      return 1;
    }

    @Override
    public long generation() {
      return inVain.size();
    }

    @Override
    public boolean newcomers() {
      return false;
    }

    private CompletableFuture<Void> called() {
      return lost ? CompletableFuture.failedFuture(new PeerLost("the generation is over")) : CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
      return called();
    }

    @Override
    public CompletableFuture<Void> gather(long[] parts) {
      return called();
    }

    @Override
    public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
      return called();
    }

    @Override
    public CompletableFuture<Void> broadcast(long[] values, int root) {
      return called();
    }

    @Override
    public CompletableFuture<Void> reform(boolean vain) {
      inVain.add(vain);
      lost = unformed-- > 0;
      return called();
    }

    @Override
    public CompletableFuture<Void> pause(long millis) {
      pauses.add(millis);
      return CompletableFuture.completedFuture(null);
    }
  }

  @Test
  void generationsThatComeToNothingAreCalledInVain_andTriedEverMoreSeldomUntilOneTrains() {
    Alone alone = new Alone();
    RankOperations rank = new RankOperations(TestClock.at(0), "trainer", alone, new Awaiting()::await);
    rank.enter();
    rank.calls().gather("first", "first", Int32Value.of(1));
    alone.lost = true;
    alone.unformed = 7;
    rank.calls().gather("second", "second", Int32Value.of(2));
    assertThat(alone.inVain).containsExactly(false, true, true, true, true, true, true, true);
    assertThat(alone.pauses).containsExactly(100L, 200L, 400L, 800L, 1600L, 3200L, 3200L);
    alone.lost = true;
    alone.unformed = 1;
    rank.calls().gather("third", "third", Int32Value.of(3));
    assertThat(alone.inVain.subList(8, alone.inVain.size())).containsExactly(false, true);
    assertThat(alone.pauses.subList(7, alone.pauses.size())).containsExactly(100L);
  }

  @Test
  void aLossEndsTheOperationOfAGroupThatIsNotElastic() {
    Alone alone = new Alone();
    alone.elastic = false;
    RankOperations rank = new RankOperations(TestClock.at(0), "trainer", alone, new Awaiting()::await);
    alone.lost = true;
    assertThatThrownBy(() -> rank.calls().gather("first", "first", Int32Value.of(1))).isInstanceOf(PeerLost.class);
    assertThat(alone.inVain).as("asked for another generation").isEmpty();
  }

  private static End end(Future<End> of) throws Exception {
    return of.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void withoutAnyLossEachPassIsTrainedOnce() throws Exception {
    SharedGenerations group = new SharedGenerations(1, MAX, 0);
    List<Future<End>> ends = new ArrayList<>();
    for (int r = 0; r < MAX; r++) {
      ends.add(start(group.member()));
    }
    for (Future<End> end : ends) {
      assertThat(end(end).parameter()).isEqualTo(PASSES * EXAMPLES * (EXAMPLES + 1) / 2.0);
      assertThat(end(end).steps()).isEqualTo(PASSES * 5);
      assertThat(end(end).sums()).doesNotContain(-1.0);
    }
    assertThat(group.generations()).isEqualTo(1);
  }

  @Test
  void moreThanABufferHoldsIsRefusedAtTheStart() throws Exception {
    SharedGenerations.Member member = new SharedGenerations(1, 1, 0).member();
    member.reform().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    RankOperations rank = new RankOperations(TestClock.at(0), "trainer of job big", member, new Awaiting()::await);
    rank.enter();
    assertThatThrownBy(() -> rank.keeps(new Sum() {
      @Override
      public int floats() {
        return 1 << 29;
      }
    }, "collective.store")).isInstanceOf(InvalidInput.class).hasMessageStartingWith("trainer of job big, rank 0: ")
        .hasMessageContaining("an elastic job (collective.store) copies at most 536870911").hasMessageEndingWith("remove collective.store");
  }

  @Test
  void whatTheFirstHasIsNotToldToNewcomersLater() throws Exception {
    SharedGenerations.Member member = new SharedGenerations(1, 1, 0).member();
    member.reform().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    RankOperations rank = new RankOperations(TestClock.at(0), "trainer", member, new Awaiting()::await);
    rank.enter();
    rank.calls().ofTheFirst("values", new float[1000]);
    rank.calls().gather("another", "another", Empty.getDefaultInstance());
    assertThat(rank.passes().packedState(false)).hasSizeLessThan(50);
  }

  /**
   * The parameter equals the closed form for any deaths at any times: no example or step is lost, and none is trained
   * twice.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whoeverDiesAndComesEachExampleIsTrainedOnce(long seed) throws Exception {
    long recoveries = 0;
    for (long run = 0; run < 40; run++) {
      Random random = new Random(1000 * seed + run);
      SharedGenerations group = new SharedGenerations(1, MAX, random.nextLong());
      List<Future<End>> ends = new ArrayList<>();
      for (int r = 0; r < MAX; r++) {
        ends.add(start(group.member()));
      }
      List<Long> kills = new ArrayList<>();
      List<Long> comes = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        kills.add((long) random.nextInt(80));
        comes.add((long) random.nextInt(80));
      }
      List<Future<End>> newcomers = Collections.synchronizedList(new ArrayList<>());
      group.onCompleted(calls -> {
        if (kills.contains(calls)) {
          List<SharedGenerations.Member> alive = group.members();
          if (alive.size() > 1) {
            group.killAt(alive.get(random.nextInt(alive.size())), calls);
          }
        }
        if (comes.contains(calls) && group.members().size() + group.waiting() < MAX) {
          newcomers.add(start(group.member()));
        }
      });
      List<End> all = new ArrayList<>();
      for (Future<End> end : ends) {
        all.add(end(end));
      }
      List<End> through = all.stream().filter(end -> !end.killed()).toList();
      assertThat(through).as("seed %d, run %d", seed, run).isNotEmpty();
      assertThat(through).allSatisfy(end ->
          assertThat(end.parameter()).isEqualTo(PASSES * EXAMPLES * (EXAMPLES + 1) / 2.0));
      recoveries += group.generations() - 1;
    }
    assertThat(recoveries).isGreaterThan(100);
  }
}
