package io.regatta.load.turns;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot;
import io.regatta.load.process.Machine;
import io.regatta.load.run.ZipfBatches;
import io.regatta.node.admin.SampleFamilies;
import io.regatta.parameterserver.ShardMetrics;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.config.Strategy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The driver of a shard's time slices with jobs that are large in another sense than rows. There are a job of many
 * tables, jobs of many trainers, and a geo job of many trainers with large batches. The many trainers have small
 * batches, in sync and ssp mode, and leave one after another, each with a view of its own. The trainers are calls on
 * one thread, as the shard's. Prints a table as {@link TurnsBenchmark} does.
 */
public final class ScaleTurns {

  private static final String JOB = "scale";
  private static final String TABLE = "t0";
  private static final int DIM = 4;
  private static final OptimizerSpec SGD = OptimizerSpec.sgd(0.01);
  private static final int EXPECTED = 1 << 16;
  /** Reports before the one that counts: after the first, single turns still run in the interpreter. */
  private static final int WARM_UPS = 2;

  private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  private final TurnReport report;
  private ParameterShard shard;
  private long sequence;

  private ScaleTurns(TurnReport report) {
    this.report = report;
  }

  /** Arguments: tables (10,000), trainers (1000), geo's trainers (400), rows of a large batch (20,000), repetitions (20). */
  public static void main(String[] args) {
    int[] sizes = {10_000, 1000, 400, 20_000, 20};
    for (int i = 0; i < Math.min(sizes.length, args.length); i++) {
      sizes[i] = Integer.parseInt(args[i]);
    }
    for (int i = 0; i < WARM_UPS; i++) {
      report(sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]); // compiles everything
    }
    System.out.println(Machine.describe() + "\n\n" + report(sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]));
  }

  static String report(int tables, int trainers, int geoTrainers, int rows, int repetitions) {
    TurnReport report = new TurnReport();
    new ScaleTurns(report).tables(tables, rows, repetitions);
    new ScaleTurns(report).rounds(trainers, repetitions);
    new ScaleTurns(report).clocks(trainers, repetitions);
    new ScaleTurns(report).geo(geoTrainers, rows);
    return "## turns of a shard with " + tables + " tables; " + trainers + " trainers; " + geoTrainers + " trainers in geo mode\n\n"
        + report;
  }

  private void begin(TurnTimes watch, Strategy strategy, int trainers, int tables) {
    shard = new ParameterShard(0, new ShardLimits(1, 64, 4 * trainers, 200_000_000L), SystemClock.get(),
        later::add);
    for (int rank = 0; rank < trainers; rank++) {
      JobSpec job = new JobSpec(JOB, strategy.mode(), trainers, strategy.trainer().stalenessBound(), NanPolicy.FAIL, 1,
          8192, new ModelSpec(1, List.of(), SGD,
          IntStream.range(0, tables).mapToObj(i -> new SparseTableSpec("t" + i, DIM, InitializerSpec.zeros(), SGD)).toList()));
      TrainerId trainer = new TrainerId(rank, 1);
      watch.time((Runnable) () -> shard.register(job, trainer, 0));
    }
  }

  private void tables(int tables, int rows, int repetitions) {
    TurnTimes registering = new TurnTimes(EXPECTED);
    for (int i = 0; i < repetitions; i++) {
      begin(registering, Strategy.async(), 2, tables); // each time at a new shard
    }
    report.add(registering, "registration with " + tables + " tables", 0);
    long[] one = {1};
    long[] many = ids(0, rows);
    TurnTimes every = new TurnTimes(EXPECTED);
    TurnTimes large = new TurnTimes(EXPECTED);
    TurnTimes pull = new TurnTimes(EXPECTED);
    for (int i = 0; i < repetitions; i++) {
      List<SparseRows> all = IntStream.range(0, tables).mapToObj(t -> new SparseRows("t" + t, one, new float[DIM])).toList();
      push(every, 0, sequence, all);
      push(large, 0, sequence, List.of(new SparseRows(TABLE, many, new float[rows * DIM])));
      pull(pull, 0, sequence, IntStream.range(0, tables).mapToObj(t -> new SparseIds("t" + t, one)).toList(), false);
    }
    report.add(every, "push of a row of each of " + tables + " tables", (long) repetitions * tables);
    report.add(large, "push of " + rows + " rows beside " + tables + " tables", (long) repetitions * rows);
    report.add(pull, "pull of a row of each of " + tables + " tables", (long) repetitions * tables);
    metrics(tables, repetitions);
    snapshots(tables, repetitions);
  }

  /** Measures the metrics that the service shows once a second, and removes when it stops. */
  private void metrics(int tables, int repetitions) {
    ShardMetrics metrics = new ShardMetrics(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), new SampleFamilies(), 0);
    TurnTimes first = new TurnTimes(EXPECTED);
    TurnTimes later = new TurnTimes(EXPECTED);
    TurnTimes close = new TurnTimes(EXPECTED);
    for (int i = 0; i <= repetitions; i++) {
      ShardMetrics.Tick tick = metrics.tick(shard);
      TurnTimes watch = i == 0 ? first : later;
      while (watch.time(tick::advance)) { }
    }
    close.time(metrics::close);
    report.add(first, "metrics of " + tables + " tables, registered", 0);
    report.add(later, "metrics of " + tables + " tables, renewed", 0);
    report.add(close, "metrics of " + tables + " tables, removed", 0);
  }

  private void snapshots(int tables, int repetitions) {
    TurnTimes begin = new TurnTimes(EXPECTED);
    TurnTimes end = new TurnTimes(EXPECTED);
    for (int i = 0; i < repetitions; i++) {
      TableSnapshot.Scope scope = i == 0 ? TableSnapshot.Scope.BASE : TableSnapshot.Scope.DELTA;
      AtomicReference<JobSnapshot> taken = new AtomicReference<>();
      watchLater(begin, () -> shard.snapshot(JOB, 0, scope, 1 << 28)
          .whenComplete((snapshot, error) -> taken.set(snapshot)));
      end.time(() -> taken.get().end(true));
    }
    report.add(begin, "beginning of a snapshot of " + tables + " tables", 0);
    report.add(end, "end of a snapshot of " + tables + " tables", 0);
  }

  /**
   * Lets every trainer ask for the next step, then push this one: the last push closes the round, and releases all
   * pulls.
   */
  private void rounds(int trainers, int repetitions) {
    TurnTimes registering = new TurnTimes(EXPECTED);
    begin(registering, Strategy.sync(), trainers, 1);
    report.add(registering, "registration of " + trainers + " trainers", 0);
    TurnTimes pulls = new TurnTimes(EXPECTED);
    TurnTimes pushes = new TurnTimes(EXPECTED);
    int rows = 16;
    for (int step = 0; step < repetitions; step++) {
      for (int rank = 0; rank < trainers; rank++) {
        pull(pulls, rank, step + 1, List.of(new SparseIds(TABLE, ids(rank, rows))), false);
      }
      for (int rank = 0; rank < trainers; rank++) {
        sequence = step;
        push(pushes, rank, step, List.of(new SparseRows(TABLE, ids(rank, rows), new float[rows * DIM])));
      }
    }
    report.add(pulls, "pull that waits among " + trainers, (long) repetitions * trainers * rows);
    report.add(pushes, "push to a round of " + trainers + ", and its closing", (long) repetitions * trainers * rows);
    TurnTimes views = new TurnTimes(EXPECTED);
    for (int rank = 0; rank < trainers; rank++) {
      TrainerId gone = new TrainerId(rank, 1);
      watchLater(views, () -> shard.leave(JOB, gone)); // a view contains the changes since the one before
    }
    report.add(views, "view in which one of " + trainers + " trainers has gone", 0);
  }

  private void clocks(int trainers, int repetitions) {
    begin(new TurnTimes(EXPECTED), Strategy.ssp(0), trainers, 1);
    TurnTimes pulls = new TurnTimes(EXPECTED);
    TurnTimes pushes = new TurnTimes(EXPECTED);
    int rows = 16;
    for (int step = 0; step < repetitions; step++) {
      for (int rank = 0; rank < trainers; rank++) {
        pull(pulls, rank, step + 1, List.of(new SparseIds(TABLE, ids(rank, rows))), false);
        sequence = step;
        push(pushes, rank, step, List.of(new SparseRows(TABLE, ids(rank, rows), new float[rows * DIM])));
      }
    }
    report.add(pulls, "pull that waits among " + trainers + " in ssp mode", (long) repetitions * trainers * rows);
    report.add(pushes, "push of one of " + trainers + " in ssp mode", (long) repetitions * trainers * rows);
    TurnTimes lost = new TurnTimes(EXPECTED);
    watchLater(lost, () -> IntStream.range(0, trainers).forEach(rank -> shard.lost(JOB, new TrainerId(rank, 1))));
    report.add(lost, "view in which " + trainers + " have gone at once", 0);
  }

  private void geo(int trainers, int rows) {
    begin(new TurnTimes(EXPECTED), Strategy.geo(1), trainers, 1);
    TurnTimes pushes = new TurnTimes(EXPECTED);
    TurnTimes pulls = new TurnTimes(EXPECTED);
    for (int rank = 0; rank < trainers; rank++) {
      sequence = 0;
      push(pushes, rank, 0, List.of(new SparseRows(TABLE, ids(rank * rows / 20, rows), new float[rows * DIM])));
    }
    int asking = Math.min(20, trainers);
    for (int rank = 0; rank < asking; rank++) {
      pull(pulls, rank, 1, List.of(), true);
    }
    report.add(pushes, "geo's push of " + rows + " rows, one of " + trainers, (long) trainers * rows);
    report.add(pulls, "geo's pull of what has changed", (long) asking * (rows + (long) (trainers - 1) * rows / 20));
  }

  private static long[] ids(int from, int n) {
    return LongStream.range(from, from + n).map(ZipfBatches::id).toArray();
  }

  private void push(TurnTimes watch, int rank, long step, List<SparseRows> rows) {
    Push push = new Push(List.of(new Contributor(rank, 1, ++sequence, 1)), step, 0, null, rows);
    watchLater(watch, () -> shard.push(JOB, push).whenComplete(TurnsBenchmark.refusalsIn(later)));
  }

  private void pull(TurnTimes watch, int rank, long step, List<SparseIds> wish, boolean changed) {
    List<SparseIds> ids = new ArrayList<>(wish);
    watchLater(watch, () -> shard.pull(JOB, new Pull(rank, step, false, ids, changed))
        .whenComplete(TurnsBenchmark.refusalsIn(later)));
  }

  /** Times the request, and all work that it leaves to later time slices. */
  private void watchLater(TurnTimes watch, Runnable request) {
    later.add(request);
    for (Runnable turn = later.poll(); turn != null; turn = later.poll()) {
      watch.time(turn);
    }
  }
}
