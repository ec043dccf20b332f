package io.regatta.load;

import static org.openjdk.jmh.annotations.Mode.*;

import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.UpdateStep;
import io.regatta.load.run.Rules;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
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
 * A benchmark of every update rule on 8000 elements in the cache: as a block of a dense vector, and as 800 rows of 10.
 */
@State(Scope.Benchmark)
@BenchmarkMode(AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class OptimizerBenchmark {

  static final int ELEMENTS = 8000;
  private static final int DIM = 10;

  @Param({"sgd", "momentum", "adagrad", "adam"})
  public String kind = "sgd";

  final float[] weights = new float[ELEMENTS];
  private final float[] gradient = new float[ELEMENTS];
  private OptimizerSpec spec;
  private ElementwiseOptimizer optimizer;
  private float[][] slots;
  /** Rows of values followed by their slots, as in a table. */
  float[] rows;
  private long updates;

  @Setup
  public void fill() {
    spec = Rules.of(kind);
    optimizer = (ElementwiseOptimizer) spec.optimizer();
    slots = new float[optimizer.slots().size()][ELEMENTS];
    rows = new float[ELEMENTS * (1 + slots.length)];
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < ELEMENTS; i++) {
      weights[i] = (float) random.nextDouble() - 0.5f;
      gradient[i] = (float) random.nextDouble() - 0.5f;
    }
    for (int k = 0; k < slots.length; k++) {
      Arrays.fill(slots[k], optimizer.slots().get(k).initial());
    }
  }

  /** Updates a block, all of whose arrays are read from index 0. */
  @Benchmark
  public float[] dense() {
    optimizer.applyWhole(weights, slots, gradient, spec.step(0.01f, ++updates));
    return weights;
  }

  /** Updates row after row. */
  @Benchmark
  public float[] rows() {
    UpdateStep step = spec.step(0.01f, ++updates);
    int stride = DIM * (1 + slots.length);
    for (int row = 0; row < ELEMENTS / DIM; row++) {
      int at = row * stride;
      optimizer.apply(rows, at, rows, at + DIM, DIM, gradient, row * DIM, DIM, step);
    }
    return rows;
  }
}
