package io.regatta.load.turns;

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
import io.regatta.core.shard.ParameterShard;
import io.regatta.load.run.ZipfBatches;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.config.Strategy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The time slices of sync rounds on a table of many rows: each trainer pushes a batch and asks for the rows of its next
 * one, which the round releases. One thread, as the shard's.
 */
final class RoundTurns {
  static final int TRAINERS = 4;
  private static final int FILLED = 8192;
  private static final String JOB = "rounds";
  private static final String TABLE = "embedding";

  private final ArrayDeque<Runnable> turns = new ArrayDeque<>();
  private final ParameterShard shard =
      new ParameterShard(0, ShardLimits.defaults(), SystemClock.get(), turns::add);
  private final int dim;

  RoundTurns(int dim, OptimizerSpec rule) {
    this.dim = dim;
    ModelSpec model = new ModelSpec(1, List.of(), OptimizerSpec.sgd(0.01),
        List.of(new SparseTableSpec(TABLE, dim, InitializerSpec.uniform(-0.1f, 0.1f), rule)));
    JobSpec job = new JobSpec(JOB, Strategy.sync().mode(), TRAINERS, 0, NanPolicy.FAIL, 1, 8192, model);
    for (int t = 0; t < TRAINERS; t++) {
      shard.register(job, new TrainerId(t, 1), 0);
    }
  }

  /** Fills the table, closes this number of rounds of these batches, and adds two lines to the report. */
  void measure(int rows, int rounds, long[][] batches, float[] gradients, TurnReport report) {
    for (int from = 0; from < rows; from += FILLED) {
      pull(0, 0, LongStream.range(from, Math.min(from + FILLED, rows)).map(ZipfBatches::id).toArray());
      for (Runnable turn = turns.poll(); turn != null; turn = turns.poll()) {
        turn.run();
      }
    }
    TurnTimes pushes = new TurnTimes(rounds * (TRAINERS - 1));
    TurnTimes closing = new TurnTimes(rounds * TRAINERS);
    long moved = 0;
    for (int round = 0; round < rounds; round++) {
      for (int t = 0; t < TRAINERS; t++) {
        long[] ids = batches[(round * TRAINERS + t) % batches.length];
        float[] values = Arrays.copyOf(gradients, ids.length * dim);
        TurnTimes watch = t < TRAINERS - 1 ? pushes : closing;
        int rank = t;
        long step = round;
        pull(t, round + 1, batches[((round + 1) * TRAINERS + t) % batches.length]);
        watch.time((Runnable) () -> push(rank, step, ids, values));
        moved += ids.length;
        for (Runnable turn = turns.poll(); turn != null; turn = turns.poll()) {
          watch.time(turn);
        }
      }
    }
    report.add(pushes, "push into a round", moved * (TRAINERS - 1) / TRAINERS);
    report.add(closing, "turn of a round of " + TRAINERS, moved);
  }

  private void pull(int rank, long step, long[] ids) {
    shard.pull(JOB, new Pull(rank, step, false, List.of(new SparseIds(TABLE, ids)), false))
        .whenComplete(TurnsBenchmark.refusalsIn(turns));
  }

  private void push(int rank, long step, long[] ids, float[] values) {
    shard.push(JOB, new Push(List.of(new Contributor(rank, 1, step + 1, 1)), step, 0, null,
        List.of(new SparseRows(TABLE, ids, values)))).whenComplete(TurnsBenchmark.refusalsIn(turns));
  }
}
