package io.regatta.load;

import static org.openjdk.jmh.annotations.Mode.*;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.load.run.LoneJob;
import io.regatta.load.run.Rules;
import io.regatta.protocol.vertx.SystemClock;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.CompletionStage;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of the rows per second that one shard serves on its one thread, without the wire. It pulls and pushes
 * 4096 distinct rows of 10 floats, ids drawn uniformly. One operation is one call; divide by {@link #ROWS} for the time
 * per row.
 */
@State(Scope.Benchmark)
@BenchmarkMode(AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ShardBenchmark {

  static final int ROWS = 4096;
  static final int DIM = 10;
  private static final String JOB = "benchmark";
  private static final String TABLE = "embedding";
  private static final int REQUESTS = 64;

  /** Rows of the table. */
  @Param({"1000000"})
  public int rows = 1_000_000;

  @Param({"sgd", "adagrad", "adam"})
  public String optimizer = "sgd";

  private ParameterShard shard;
  private long[][] ids;
  private float[] gradient;
  private long step;
  private int next;

  @Setup
  public void fill() {
    OptimizerSpec rule = Rules.of(optimizer);
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("bias", List.of(1))), rule,
        List.of(new SparseTableSpec(TABLE, DIM, InitializerSpec.uniform(-0.1f, 0.1f), rule)));
    TrainerId trainer = new TrainerId(0, 1);
    shard = new ParameterShard(0, ShardLimits.defaults(), SystemClock.get());
    shard.register(LoneJob.spec(JOB, 8192, model), trainer, 0);
    shard.initialize(JOB, trainer, DenseMemory.of(new float[1]));
    for (long first = 0; first < rows; first += ROWS) {
      long[] batch = new long[(int) Math.min(ROWS, rows - first)];
      for (int i = 0; i < batch.length; i++) {
        batch[i] = first + i;
      }
      pull(batch);
    }
    SplittableRandom random = new SplittableRandom(7);
    ids = new long[REQUESTS][];
    for (int r = 0; r < REQUESTS; r++) {
      ids[r] = random.longs(0, rows).distinct().limit(ROWS).toArray();
    }
    gradient = new float[ROWS * DIM];
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = (float) (random.nextDouble() - 0.5);
    }
  }

  /** Gathers rows into an answer. */
  @Benchmark
  public Pulled pull() {
    return pull(ids[next++ % REQUESTS]);
  }

  /** Looks rows up and applies the optimizer to them. */
  @Benchmark
  public PushAck push() {
    Contributor contributor = new Contributor(0, 1, ++step, 100);
    SparseRows rowGradients = new SparseRows(TABLE, ids[next++ % REQUESTS], gradient);
    return answer(shard.push(JOB, new Push(List.of(contributor), step - 1, 0, null, List.of(rowGradients))));
  }

  private Pulled pull(long[] wanted) {
    return answer(shard.pull(JOB, new Pull(0, 0, false, List.of(new SparseIds(TABLE, wanted)), false)));
  }

  /** Returns the answer, which in async mode comes within the call. */
  private static <T> T answer(CompletionStage<T> request) {
    T value = request.toCompletableFuture().getNow(null);
    if (value == null) {
      throw new IllegalStateException("the shard did not answer");
    }
    return value;
  }
}
