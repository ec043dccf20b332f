package io.regatta.load;

import static org.openjdk.jmh.annotations.Mode.*;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.SparseTable;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of a sparse table without the shard around it. One operation is 4096 rows of 10 floats with Adagrad.
 * Their ids are drawn uniformly, which is harder on the caches than Zipf's law.
 */
@BenchmarkMode(AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TableBenchmark {

  static final int ROWS = 4096;
  static final int DIM = 10;
  private static final int REQUESTS = 256;
  /** Rows after which a growing table is replaced by an empty one. */
  private static final int GROWN = 2_000_000;

  private static SparseTable empty() {
    return new SparseTable(1, new SparseTableSpec("embedding", DIM, InitializerSpec.uniform(-0.1f, 0.1f),
        OptimizerSpec.of("adagrad", 0.01)));
  }

  private static long[] consecutive(long first) {
    long[] ids = new long[ROWS];
    for (int i = 0; i < ROWS; i++) {
      ids[i] = first + i;
    }
    return ids;
  }

  /** A table that is filled and keeps its size. */
  @State(Scope.Benchmark)
  public static class Filled {

    @Param({"100000", "10000000"})
    public int rows = 100_000;

    SparseTable table;
    private long[][] ids;
    private float[] gradients;
    private long updates;
    private int next;

    @Setup
    public void fill() {
      table = empty();
      for (long first = 0; first < rows; first += ROWS) {
        table.pull(consecutive(first));
      }
      SplittableRandom random = new SplittableRandom(7);
      ids = new long[REQUESTS][];
      for (int r = 0; r < REQUESTS; r++) {
        ids[r] = random.longs(0, rows).distinct().limit(ROWS).toArray();
      }
      gradients = new float[ROWS * DIM];
      for (int i = 0; i < gradients.length; i++) {
        gradients[i] = (float) random.nextDouble() - 0.5f;
      }
    }

    private long[] nextIds() {
      return ids[next++ % REQUESTS];
    }
  }

  /** A table that grows from nothing to two million rows, repeatedly. */
  @State(Scope.Benchmark)
  public static class Growing {

    SparseTable table;

    @Setup(Level.Iteration)
    public void begin() {
      table = empty();
    }
  }

  /** Finds rows and copies their values. */
  @Benchmark
  public float[] pull(Filled filled) {
    return filled.table.pull(filled.nextIds());
  }

  /** Finds rows and applies the optimizer to them. */
  @Benchmark
  public void push(Filled filled) {
    filled.table.update(filled.nextIds(), filled.gradients, 0.01f, ++filled.updates);
  }

  /** Finds rows only. */
  @Benchmark
  public int find(Filled filled) {
    return filled.table.missing(filled.nextIds());
  }

  /** Creates rows, growth of the index and the slabs included. */
  @Benchmark
  public float[] growth(Growing growing) {
    if (growing.table.size() >= GROWN) {
      growing.begin();
    }
    return growing.table.pull(consecutive(growing.table.size()));
  }
}
