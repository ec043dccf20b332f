package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseState;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
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
import io.regatta.core.optim.TensorNorms;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.core.optim.UpdateStep;
import io.regatta.core.table.TableSnapshot;
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

/** Optimizers that need norms over whole tensors, on shards: the bits of one process that has each tensor in one array. */
class WholeTensorsTest {

  private static final int STEPS = 6;
  /** Tensors of several blocks, several in one block, and one of zeros. */
  private static final List<DenseVariable> VARIABLES = List.of(new DenseVariable("b", List.of(7)),
      new DenseVariable("w", List.of(5 * DenseValues.BLOCK / 128, 64)), new DenseVariable("s", List.of()),
      new DenseVariable("zeros", List.of(50, 2)), new DenseVariable("v", List.of(300, 40)));
  private static final int NUMEL = VARIABLES.stream().mapToInt(DenseVariable::numel).sum();

  /** One process: whole tensors, one array for each of their slots. */
  private static final class OneProcess {
    private final OptimizerSpec spec;
    private final List<float[]> weights = new ArrayList<>();
    private final List<float[][]> slots = new ArrayList<>();
    private final List<DenseVariable> variables;
    private long updates;

    OneProcess(OptimizerSpec spec, List<DenseVariable> variables, float[] start) {
      this.spec = spec;
      this.variables = variables;
      int at = 0;
      for (DenseVariable v : variables) {
        weights.add(Arrays.copyOfRange(start, at, at + v.numel()));
        slots.add(new float[spec.optimizer().slots().size()][v.numel()]);
        at += v.numel();
      }
    }

    void update(long round, float[] gradient) {
      updates++;
      UpdateStep step = spec.step((float) spec.learningRate().at(round), updates);
      TensorwiseOptimizer optimizer = (TensorwiseOptimizer) spec.optimizer();
      int at = 0;
      for (int t = 0; gradient != null && t < variables.size(); t++) {
        int n = variables.get(t).numel();
        float[] g = Arrays.copyOfRange(gradient, at, at + n);
        TensorNorms norms = new TensorNorms(variables.get(t).shape().size());
        optimizer.measure(weights.get(t), slots.get(t), g, 0, n, step, norms);
        optimizer.apply(weights.get(t), slots.get(t), g, 0, n, step, norms);
        at += n;
      }
    }

    /** An update by the weighted mean of the ranks' gradients, in rank order. */
    void round(long step, int trainers) {
      double total = 0;
      for (int rank = 0; rank < trainers; rank++) {
        total += weight(rank, step);
      }
      float[] mean = null;
      for (int rank = 0; rank < trainers; rank++) {
        float factor = (float) (weight(rank, step) / total);
        float[] g = factor > 0 ? gradient(rank, step) : null;
        for (int i = 0; g != null && i < NUMEL; i++) {
          g[i] = trainers == 1 ? g[i] : factor * g[i];
        }
        for (int i = 0; g != null && mean != null && i < NUMEL; i++) {
          g[i] = mean[i] + g[i];
        }
        mean = g == null ? mean : g;
      }
      update(step, mean);
    }

    float[] flat() {
      return join(weights);
    }

    /** Returns the slots as a flat vector each. */
    float[][] flatSlots() {
      float[][] out = new float[spec.optimizer().slots().size()][];
      for (int k = 0; k < out.length; k++) {
        int slot = k;
        out[k] = join(slots.stream().map(s -> s[slot]).toList());
      }
      return out;
    }

    private static float[] join(List<float[]> arrays) {
      float[] out = new float[arrays.stream().mapToInt(a -> a.length).sum()];
      int at = 0;
      for (float[] a : arrays) {
        System.arraycopy(a, 0, out, at, a.length);
        at += a.length;
      }
      return out;
    }
  }

  static Stream<OptimizerSpec> optimizers() {
    return tensorwise().flatMap(o -> Stream.of(OptimizerSpec.of(o, 0.02),
        new OptimizerSpec(o, LearningRate.step(0.02, 2, 0.5), 0.01f, 1.5f, 0)));
  }

  static Stream<Optimizer> tensorwise() {
    return OptimizerRegistry.all().stream().map(OptimizerType::defaults).filter(o -> o instanceof TensorwiseOptimizer);
  }

  private static JobSpec spec(Mode mode, int trainers, int shards, OptimizerSpec optimizer, List<DenseVariable> variables) {
    return new JobSpec("job", mode, trainers, 4, NanPolicy.FAIL, shards, 10, new ModelSpec(7, variables, optimizer, List.of()));
  }

  private static float[] initial() {
    float[] w = new float[NUMEL];
    int zeros = 7 + 5 * DenseValues.BLOCK / 2 + 1;
    for (int i = 0; i < NUMEL; i++) {
      w[i] = i >= zeros && i < zeros + 100 ? 0 : (float) Math.sin(i);
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

  /** In some rounds a rank has no examples, and so no gradient. */
  private static double weight(int rank, long step) {
    return rank == 1 && step == 2 ? 0 : rank + 1;
  }

  private static CompletableFuture<ParameterClient.Pushed> push(ParameterClient client, int rank, long step) {
    double weight = weight(rank, step);
    return client.push(step, weight, null, weight == 0 ? null : DenseMemory.of(gradient(rank, step)), List.of());
  }

  private static LocalJob started(Mode mode, int trainers, int shards, OptimizerSpec optimizer) {
    LocalJob job = new LocalJob(spec(mode, trainers, shards, optimizer, VARIABLES));
    job.clients.forEach(c -> c.register().join());
    job.clients.get(0).initialize(initial()).join();
    return job;
  }

  private static float[] values(LocalJob job) {
    return job.clients.get(0).pull(0, true, List.of(), false).join().dense();
  }

  /** Each trainer is up to three steps ahead, and does not wait for acknowledgements. */
  @ParameterizedTest
  @MethodSource("optimizers")
  void roundsOfAnyShardsAndTrainersHaveTheBitsOfOneProcess(OptimizerSpec optimizer) {
    for (int trainers = 1; trainers <= 3; trainers++) {
      OneProcess one = new OneProcess(optimizer, VARIABLES, initial());
      for (long step = 0; step < STEPS; step++) {
        one.round(step, trainers);
      }
      assertThat(one.flat()).isNotEqualTo(initial());
      for (int shards : new int[] {1, 2, 3, 7}) {
        LocalJob job = started(Mode.SYNC, trainers, shards, optimizer);
        long[] next = new long[trainers];
        Random random = new Random(shards);
        List<CompletableFuture<?>> acks = new ArrayList<>();
        for (int left = trainers * STEPS; left > 0; ) {
          int rank = random.nextInt(trainers);
          if (next[rank] < STEPS && next[rank] < Arrays.stream(next).min().orElseThrow() + 3) {
            acks.add(push(job.clients.get(rank), rank, next[rank]++));
            left--;
          }
        }
        assertThat(acks).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(values(job)).as("%d trainers, %d shards", trainers, shards).containsExactly(one.flat());
        assertThat(slots(job)).isDeepEqualTo(one.flatSlots());
      }
    }
  }

  /** Returns the slots of all shards' snapshots, in the order of the model. */
  private static float[][] slots(LocalJob job) {
    DensePartition partition = job.clients.get(0).partition();
    float[][] flat = new float[job.spec.model().denseOptimizer().optimizer().slots().size()][NUMEL];
    for (int s = 0; s < job.shards.size(); s++) {
      int shard = s;
      job.shards.get(s).snapshot("job", 0, TableSnapshot.Scope.ALL, Long.MAX_VALUE).thenAccept(snapshot -> {
        DenseState dense = snapshot.dense();
        for (int k = 0; k < flat.length; k++) {
          float[] its = new float[dense.size()];
          for (int b = 0; b < DenseValues.blocks(its.length); b++) {
            System.arraycopy(dense.slots(b)[k], 0, its, b * DenseValues.BLOCK, dense.slots(b)[k].length);
          }
          partition.merge(its, shard, flat[k]);
        }
        snapshot.end(true);
      });
    }
    return flat;
  }

  @ParameterizedTest
  @EnumSource(value = Mode.class, names = {"HALF_ASYNC", "ASYNC", "SSP"})
  void withoutRoundsEachPushIsAnUpdateOfWholeTensors(Mode mode) {
    tensorwise().forEach(o -> {
      OptimizerSpec optimizer = OptimizerSpec.of(o, 0.02);
      OneProcess one = new OneProcess(optimizer, VARIABLES, initial());
      LocalJob job = started(mode, 2, 3, optimizer);
      for (int step = 0; step < STEPS; step++) {
        for (int rank = 0; rank < 2; rank++) {
          push(job.clients.get(rank), rank, step).join();
          one.update(step, weight(rank, step) == 0 ? null : gradient(rank, step));
        }
      }
      assertThat(values(job)).as(optimizer.name()).containsExactly(one.flat());
    });
  }

  /** Several trainers push large tensors at a time, and every time slice of the shard ends in the middle of one of them. */
  @ParameterizedTest
  @EnumSource(value = Mode.class, names = {"SYNC", "ASYNC"})
  void largeUpdatesTakeTimeSlicesAndStayWhole(Mode mode) {
    int rows = 100 * DenseValues.BLOCK / 64;
    List<DenseVariable> large = List.of(new DenseVariable("w", List.of(rows, 64)), new DenseVariable("v", List.of(rows, 65)));
    int numel = large.stream().mapToInt(DenseVariable::numel).sum();
    float[] start = new float[numel];
    Arrays.fill(start, 0.5f);
    tensorwise().forEach(o -> {
      OptimizerSpec optimizer = OptimizerSpec.of(o, 0.1);
      Queue<Runnable> later = new ArrayDeque<>();
      ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0), later::add);
      JobSpec spec = spec(mode, 2, 1, optimizer, large);
      List<ParameterClient> clients = Stream.of(0, 1).map(rank -> new ParameterClient(spec, new TrainerId(rank, 1),
          List.of(new LocalShardLink(shard)), Runnable::run)).toList();
      clients.forEach(c -> c.register().join());
      clients.get(0).initialize(start).join();
      OneProcess one = new OneProcess(optimizer, large, start);
      List<CompletableFuture<?>> acks = new ArrayList<>();
      float[][] gradients = {constant(numel, 1), constant(numel, -3)};
      for (int rank = 0; rank < 2; rank++) {
        acks.add(clients.get(rank).push(0, 1, null, DenseMemory.of(gradients[rank]), List.of()));
      }
      if (mode == Mode.SYNC) {
        one.update(0, constant(numel, -1));
      } else {
        one.update(0, gradients[0]);
        one.update(0, gradients[1]);
      }
      assertThat(acks).noneMatch(CompletableFuture::isDone);
      int turns = 0;
      for (; !later.isEmpty(); turns++) {
        later.remove().run();
      }
      assertThat(acks).allMatch(CompletableFuture::isDone);
      assertThat(turns).isGreaterThan(4);
      float[] pulled = clients.get(0).pull(mode == Mode.SYNC ? 1 : 0, true, List.of(), false).join().dense();
      assertThat(Arrays.mismatch(pulled, one.flat())).as("index of the first element that differs").isEqualTo(-1);
    });
  }

  private static float[] constant(int n, float value) {
    float[] out = new float[n];
    Arrays.fill(out, value);
    return out;
  }

  @Test
  void rowsAreRefused() {
    OptimizerSpec optimizer = OptimizerSpec.of(tensorwise().findFirst().orElseThrow(), 0.1);
    assertThatThrownBy(() -> new SparseTableSpec("t", 2, InitializerSpec.zeros(), optimizer)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sparse table t: optimizer").hasMessageContaining("give sparse_optimizer.kind");
  }
}
