package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.OptimizerType;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.core.testing.TestClock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Rounds of optimizers that need norms over whole tensors, whose parts lie on several shards. */
class TensorRoundsTest {

  private static final int STEPS = 6;
  /** Two variables are cut over shards, and over blocks of a shard; one is all zeros. */
  private static final List<DenseVariable> VARIABLES = List.of(new DenseVariable("w", List.of(3 * DenseValues.BLOCK / 64, 64)),
      new DenseVariable("b", List.of(7)), new DenseVariable("zeros", List.of(50)));
  private static final int NUMEL = VARIABLES.stream().mapToInt(DenseVariable::numel).sum();

  static Stream<OptimizerSpec> optimizers() {
    return tensorwise().flatMap(o -> Stream.of(OptimizerSpec.of(o, 0.02),
        new OptimizerSpec(o, LearningRate.step(0.02, 2, 0.5), 0.01f, 1.5f, 0)));
  }

  static Stream<Optimizer> tensorwise() {
    return OptimizerRegistry.all().stream().map(OptimizerType::defaults).filter(o -> o instanceof TensorwiseOptimizer);
  }

  private static JobSpec spec(Mode mode, int trainers, int shards, OptimizerSpec optimizer) {
    SparseTableSpec table = new SparseTableSpec(LocalJob.DEEP, 3, InitializerSpec.uniform(-1, 1), OptimizerSpec.sgd(0.1));
    return new JobSpec("job", mode, trainers, 0, NanPolicy.FAIL, shards, 10, new ModelSpec(7, VARIABLES, optimizer, List.of(table)));
  }

  private static float[] initial() {
    float[] w = new float[NUMEL];
    for (int i = 0; i < NUMEL - 50; i++) {
      w[i] = (float) Math.sin(i);
    }
    return w;
  }

  private static float[] gradient(int rank, long step) {
    Random random = new Random(31 * rank + step);
    float[] g = new float[NUMEL];
    for (int i = 0; i < NUMEL; i++) {
      g[i] = (float) random.nextGaussian();
    }
    return g;
  }

  private static LocalJob started(int trainers, int shards, OptimizerSpec optimizer) {
    LocalJob job = new LocalJob(spec(Mode.SYNC, trainers, shards, optimizer));
    job.clients.forEach(c -> c.register().join());
    job.clients.get(0).initialize(initial()).join();
    return job;
  }

  /** Each trainer is up to three steps ahead, and does not wait for acknowledgements; in some steps one has no gradient. */
  private static float[] train(int trainers, int shards, OptimizerSpec optimizer) {
    LocalJob job = started(trainers, shards, optimizer);
    long[] next = new long[trainers];
    Random random = new Random(shards);
    List<CompletableFuture<?>> acks = new ArrayList<>();
    for (int left = trainers * STEPS; left > 0; ) {
      int rank = random.nextInt(trainers);
      if (next[rank] < STEPS && next[rank] < Arrays.stream(next).min().orElseThrow() + 3) {
        boolean none = rank == 1 && next[rank] == 2;
        acks.add(job.clients.get(rank).push(next[rank], none ? 0 : rank + 1, null,
            none ? null : DenseMemory.of(gradient(rank, next[rank])), List.of()));
        next[rank]++;
        left--;
      }
    }
    assertThat(acks).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(job.shards.get(0).waits()).isEmpty();
    return job.clients.get(0).pull(STEPS, true, List.of(), false).join().dense();
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void shardsGiveWhatOneProcessGives(OptimizerSpec optimizer) {
    float[] one = train(3, 1, optimizer);
    assertThat(one).isNotEqualTo(initial());
    for (int shards : new int[] {2, 3, 7}) {
      float[] several = train(3, shards, optimizer);
      for (int i = 0; i < NUMEL; i++) {
        assertThat(several[i]).as("%d shards, element %d", shards, i).isCloseTo(one[i], within(1e-6f));
      }
      assertThat(train(3, shards, optimizer)).as("twice").containsExactly(several);
    }
  }

  @ParameterizedTest
  @MethodSource("tensorwise")
  void valuesAreNotSeenWhileNormsAreAwaited(Optimizer optimizer) {
    LocalJob job = started(1, 2, OptimizerSpec.of(optimizer, 0.1));
    ParameterShard shard = job.shards.get(0);
    TrainerId trainer = new TrainerId(0, 1);
    List<Object> answers = new ArrayList<>();
    pushTo(job, 0, answers);
    shard.pull("job", new Pull(0, 1, true, List.of(), false), (pulled, error) -> answers.add("pulled"));
    assertThat(answers).isEmpty();
    assertThat(shard.waits().stream().map(Object::toString)).anyMatch(w -> w.contains("norms of the other shards' parts"));
    shard.totals("job", trainer, 5, new double[6]); // of another round
    assertThat(answers).isEmpty();
    assertThatThrownBy(() -> shard.totals("job", trainer, 0, new double[4])).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("have 4 sums").hasMessageContaining("instead of 6");
    double[][] own = new double[1][];
    shard.norms("job", trainer, 0, (sums, error) -> own[0] = sums);
    assertThat(own[0]).hasSize(6);
    shard.totals("job", trainer, 0, own[0]);
    assertThat(answers).containsExactlyInAnyOrder("pushed", "pulled");
    double[][] again = new double[1][];
    shard.norms("job", trainer, 0, (sums, error) -> again[0] = sums);
    assertThat(again[0]).as("for a trainer that is behind").containsExactly(own[0]);
    shard.totals("job", trainer, 0, own[0]); // again
    assertThat(answers).hasSize(2);
  }

  private static void pushTo(LocalJob job, int shard, List<Object> answers) {
    ParameterShard to = job.shards.get(shard);
    int size = job.clients.get(0).partition().sizeOf(shard);
    to.push("job", new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0,
        DenseMemory.of(new float[size]).slice(DensePartition.of(
            List.of(new DenseVariable("g", List.of(size))), 1, 1), 0), List.of()),
        (ack, error) -> answers.add(error == null ? "pushed" : error));
  }

  @ParameterizedTest
  @MethodSource("tensorwise")
  void aRoundWhoseTrainersHaveGoneBreaksTheJob(Optimizer optimizer) {
    JobSpec two = spec(Mode.SYNC, 2, 2, OptimizerSpec.of(optimizer, 0.1));
    LocalJob job = new LocalJob(two);
    job.clients.get(0).register().join();
    job.clients.get(0).initialize(initial()).join();
    job.shards.forEach(s -> s.lost("job", new TrainerId(1, 1)));
    List<Object> answers = new ArrayList<>();
    pushTo(job, 0, answers);
    assertThat(answers).isEmpty();
    job.clients.get(1).register().exceptionally(e -> null).join();
    job.shards.get(0).register(two, new TrainerId(1, 2), 1);
    job.shards.get(0).lost("job", new TrainerId(0, 1));
    assertThatThrownBy(() -> job.shards.get(0).totals("job", new TrainerId(1, 2), 0, new double[6])).isInstanceOf(PeerLost.class)
        .hasMessageContaining("the round of step 0").hasMessageContaining("before they had exchanged its norms");
  }

  @ParameterizedTest
  @MethodSource("tensorwise")
  void aLargeRoundIsMeasuredAndAppliedInTimeSlices(Optimizer optimizer) {
    OptimizerSpec spec = OptimizerSpec.of(optimizer, 0.1);
    int size = 400 * DenseValues.BLOCK;
    JobSpec large = new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 2, 10,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(size))), spec, List.of()));
    Queue<Runnable> later = new ArrayDeque<>();
    List<ParameterShard> shards = new ArrayList<>();
    for (int s = 0; s < 2; s++) {
      shards.add(new ParameterShard(s, ShardLimits.defaults(), TestClock.at(0), later::add));
    }
    ParameterClient client = new ParameterClient(large, new TrainerId(0, 1),
        shards.stream().map(LocalShardLink::new).toList(), Runnable::run);
    client.register().join();
    float[] w = new float[size];
    Arrays.fill(w, 0.5f);
    client.initialize(w).join();
    float[] g = new float[size];
    Arrays.fill(g, 1);
    CompletableFuture<ParameterClient.Pushed> pushed = client.push(0, 1, null, DenseMemory.of(g), List.of());
    assertThat(pushed).isNotDone();
    int turns = 0;
    while (!later.isEmpty()) {
      later.remove().run();
      turns++;
    }
    assertThat(pushed).isCompleted();
    assertThat(turns).isGreaterThan(4);
    float[] moved = client.pull(1, true, List.of(), false).join().dense();
    assertThat(moved[0]).isNotEqualTo(0.5f);
    for (float x : moved) {
      assertThat(x).isEqualTo(moved[0]);
    }
  }

  @ParameterizedTest
  @EnumSource(value = Mode.class, names = {"HALF_ASYNC", "ASYNC", "GEO", "SSP"})
  void aModeWithoutRoundsIsRefusedAtTheStart(Mode mode) {
    assertThatThrownBy(() -> spec(mode, 2, 2, OptimizerSpec.of(tensorwise().findFirst().orElseThrow(), 0.1)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("trains in mode " + mode.id())
        .hasMessageContaining("choose mode sync or collective, or another optimizer");
  }

  @Test
  void rowsAreRefused() {
    OptimizerSpec optimizer = OptimizerSpec.of(tensorwise().findFirst().orElseThrow(), 0.1);
    assertThatThrownBy(() -> new SparseTableSpec("t", 2, InitializerSpec.zeros(), optimizer)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sparse table t: optimizer").hasMessageContaining("give sparse_optimizer.kind");
  }

  @Test
  void otherOptimizersExchangeNothing() {
    LocalJob job = started(1, 2, OptimizerSpec.sgd(1));
    List<Throwable> errors = new ArrayList<>();
    job.shards.get(0).norms("job", new TrainerId(0, 1), 0, (sums, error) -> errors.add(error));
    assertThat(errors).hasSize(1).allSatisfy(e -> assertThat(e).isInstanceOf(InvalidInput.class).hasMessageContaining("sgd needs none"));
  }
}
