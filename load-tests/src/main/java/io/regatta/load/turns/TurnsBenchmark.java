package io.regatta.load.turns;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.DigestCursor;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.RowCursor;
import io.regatta.load.process.Machine;
import io.regatta.load.process.Table;
import io.regatta.load.run.LoneJob;
import io.regatta.load.run.Rules;
import io.regatta.load.run.ZipfBatches;
import io.regatta.protocol.vertx.SystemClock;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.stream.LongStream;

/**
 * The driver of a shard's time slices with a table of many rows, and of the bytes that a row takes. It fills a table,
 * pulls and pushes batches of Zipf's ids, and exports and digests in the slices of a parameter server. It closes sync
 * rounds on another table ({@link RoundTurns}), and creates and removes rows on a third ({@link LifeTurns}). One
 * thread, as the shard's.
 *
 * <p>Prints a table: the mean, the 99.9th percentile and the worst time slice, in wall time and in the thread's CPU
 * time. CPU time excludes other processes and garbage collection on other threads. The last line is the verdict.
 */
public final class TurnsBenchmark {

  private static final int DIM = 10;
  private static final int WARM_UP_ROWS = 400_000;
  private static final int BATCHES = 64;
  private static final int REQUESTS = 2000;
  private static final int BIRTHS = 10_000;
  private static final int LARGE_PUSH = 1_000_000;
  /** Size of a large pull, room for whose answer is made in one time slice. */
  private static final int LARGE_PULL = 100_000;
  private static final int LARGE_REQUESTS = 10;
  /** Rows of an export's slice in the parameter server. */
  private static final int EXPORT_ROWS = (1 << 20) / (Long.BYTES + DIM * Float.BYTES);
  private static final long DIGEST_VALUES = 100_000;
  private static final String JOB = "turns";
  private static final String TABLE = "embedding";

  /** Work that the shard leaves to later time slices. */
  private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(),
      SystemClock.get(), later::add);
  private final int rows;
  private final int requests;
  private final OptimizerSpec rule;
  private long pushes;

  private TurnsBenchmark(int rows, int requests, OptimizerSpec rule) {
    this.rows = rows;
    this.requests = requests;
    this.rule = rule;
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("bias", List.of(1))), OptimizerSpec.sgd(0.01),
        List.of(new SparseTableSpec(TABLE, DIM, InitializerSpec.uniform(-0.1f, 0.1f), rule)));
    TrainerId trainer = new TrainerId(0, 1);
    shard.register(LoneJob.spec(JOB, 8192, model), trainer, 0);
    shard.initialize(JOB, trainer, DenseMemory.of(new float[1]));
  }

  /** Arguments: rows (10 million) and optimizer (adagrad). */
  public static void main(String[] args) {
    int rows = args.length > 0 ? Integer.parseInt(args[0]) : 10_000_000;
    String name = args.length > 1 ? args[1].toLowerCase(Locale.ROOT) : "adagrad";
    report(Math.min(rows, WARM_UP_ROWS), REQUESTS, name); // compiles everything
    System.out.println(Machine.describe() + "\n\n" + report(rows, REQUESTS, name));
  }

  static String report(int rows, int requests, String optimizer) {
    long before = Machine.usedHeapBytes();
    TurnsBenchmark turns = new TurnsBenchmark(rows, requests, Rules.of(optimizer));
    TurnReport table = new TurnReport();
    turns.measure(table);
    double bytesPerRow = (double) (Machine.usedHeapBytes() - before) / rows;
    turns.shard.leave(JOB, new TrainerId(0, 1)); // reachable until the heap has been measured
    turns.measureRounds(table);
    new LifeTurns(DIM, Rules.of(optimizer), rows).measure(table);
    return "## turns of a shard with " + rows + " rows of " + DIM + " floats, " + optimizer + ": "
        + Table.number(bytesPerRow) + " bytes of heap per row\n\n" + table;
  }

  private void measure(TurnReport table) {
    table.add(fill(), "pull of new rows", rows);
    long[][] batches = batches();
    long moved = LongStream.range(0, requests).map(i -> batches[(int) (i % BATCHES)].length).sum();
    TurnTimes pull = new TurnTimes(requests);
    for (int i = 0; i < requests; i++) {
      long[] ids = batches[i % BATCHES];
      pull(pull, ids);
    }
    table.add(pull, "pull", moved);
    float[] gradients = gradients(batches);
    TurnTimes push = new TurnTimes(requests);
    for (int i = 0; i < requests; i++) {
      long[] ids = batches[i % BATCHES];
      float[] values = Arrays.copyOf(gradients, ids.length * DIM);
      push(push, ids, values);
    }
    table.add(push, "push", moved);
    large(table);
    TurnTimes export = new TurnTimes(rows / EXPORT_ROWS + 2 * 256);
    RowCursor cursor = shard.rowCursor(JOB, TABLE);
    while (export.time(() -> cursor.next(EXPORT_ROWS)) != null) { }
    table.add(export, "slice of an export", rows);
    TurnTimes digest = new TurnTimes((int) ((long) rows * DIM / DIGEST_VALUES) + 256);
    DigestCursor hash = shard.digestCursor(JOB);
    while (digest.time(() -> hash.advance(DIGEST_VALUES))) { }
    table.add(digest, "slice of a digest", rows);
  }

  /** Measures a push and a pull that are larger than any batch. */
  private void large(TurnReport table) {
    long[] ids = LongStream.range(0, Math.min(rows, LARGE_PUSH)).map(ZipfBatches::id).toArray();
    long[] wanted = Arrays.copyOf(ids, Math.min(rows, LARGE_PULL));
    float[] values = new float[ids.length * DIM];
    TurnTimes push = new TurnTimes(LARGE_REQUESTS);
    TurnTimes pull = new TurnTimes(LARGE_REQUESTS);
    for (int i = 0; i < LARGE_REQUESTS; i++) {
      push(push, ids, values);
      pull(pull, wanted);
    }
    table.add(push, "push of " + ids.length + " rows", (long) LARGE_REQUESTS * ids.length);
    table.add(pull, "pull of " + wanted.length + " rows", (long) LARGE_REQUESTS * wanted.length);
  }

  private void measureRounds(TurnReport table) {
    long[][] batches = batches();
    new RoundTurns(DIM, rule).measure(rows, Math.max(1, requests / RoundTurns.TRAINERS), batches, gradients(batches), table);
  }

  private TurnTimes fill() {
    TurnTimes watch = new TurnTimes((rows + BIRTHS - 1) / BIRTHS);
    for (int from = 0; from < rows; from += BIRTHS) {
      int first = from;
      long[] ids = LongStream.range(first, Math.min(first + BIRTHS, rows)).map(ZipfBatches::id).toArray();
      pull(watch, ids);
    }
    return watch;
  }

  private long[][] batches() {
    return ZipfBatches.distinct(BATCHES, rows, 7);
  }

  private static float[] gradients(long[][] batches) {
    SplittableRandom random = new SplittableRandom(7);
    float[] values = new float[DIM * Arrays.stream(batches).mapToInt(b -> b.length).max().orElseThrow()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble() - 0.5f;
    }
    return values;
  }

  private void pull(TurnTimes watch, long[] ids) {
    Pull pull = new Pull(0, pushes, false, List.of(new SparseIds(TABLE, ids)), false);
    time(watch, () -> shard.pull(JOB, pull).whenComplete(refusalsIn(later)));
  }

  private void push(TurnTimes watch, long[] ids, float[] values) {
    Push push = new Push(List.of(new Contributor(0, 1, ++pushes, 1)), pushes - 1, 0, null,
        List.of(new SparseRows(TABLE, ids, values)));
    time(watch, () -> shard.push(JOB, push).whenComplete(refusalsIn(later)));
  }

  /** Times the request, and all work that it leaves to later time slices. */
  private void time(TurnTimes watch, Runnable request) {
    later.add(request);
    for (Runnable turn = later.poll(); turn != null; turn = later.poll()) {
      watch.time(turn);
    }
  }

  /** Returns a receiver of answers that ends the benchmark in its next time slice if a request was refused. */
  static BiConsumer<Object, Throwable> refusalsIn(Queue<Runnable> later) {
    return (value, error) -> {
      if (error != null) {
        later.add(() -> {
          throw new IllegalStateException("the shard refused a request of its benchmark", error);
        });
      }
    };
  }
}
