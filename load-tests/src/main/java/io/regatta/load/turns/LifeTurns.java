package io.regatta.load.turns;

import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.load.run.LoneJob;
import io.regatta.load.run.ZipfBatches;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * The time slices of a table that tracks its rows. A shrink removes none of them, and another one a half. Then rows are
 * created in the free places, and pulls of new rows evict others. One thread, as the shard's.
 */
final class LifeTurns {

  private static final String JOB = "life";
  private static final String TABLE = "embedding";
  private static final int PULLED = 10_000;
  private static final int EVICTING = 50;
  private static final long TTL_SECONDS = 100;

  private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  private final TrainerId trainer = new TrainerId(0, 1);
  private final ParameterShard shard;
  private final int rows;
  private long nowMillis = 1_000_000_000;
  private final Clock clock = new Clock() {
    @Override
    public long nanos() {
      return TimeUnit.MILLISECONDS.toNanos(nowMillis);
    }

    @Override
    public long epochMillis() {
      return nowMillis;
    }

    @Override
    public void pause(long nanos) {
      nowMillis += TimeUnit.NANOSECONDS.toMillis(nanos);
    }
  };
  private long shrinks;

  LifeTurns(int dim, OptimizerSpec rule, int rows) {
    this.rows = rows;
    shard = new ParameterShard(0, new ShardLimits(1, 64, 64, rows, 0, true), clock, later::add);
    SparseTableSpec table = new SparseTableSpec(TABLE, dim, InitializerSpec.uniform(-0.1f, 0.1f), rule,
        TableLife.counted().withTtlSeconds(TTL_SECONDS));
    shard.register(LoneJob.spec(JOB, 8192,
        new ModelSpec(1, List.of(), OptimizerSpec.sgd(0.01), List.of(table))), trainer, 0);
  }

  void measure(TurnReport table) {
    TurnTimes unused = new TurnTimes(4 * rows / PULLED + 1024);
    pull(unused, 0, rows / 2);
    nowMillis += 1000 * TTL_SECONDS;
    pull(unused, rows / 2, rows);
    table.add(shrink(), "shrink of none of the rows", rows);
    nowMillis += 1000;
    table.add(shrink(), "shrink of half of them", rows);
    TurnTimes again = new TurnTimes(4 * rows / PULLED + 1024);
    pull(again, 0, rows / 2);
    table.add(again, "pull of rows in their places", rows / 2);
    TurnTimes evicting = new TurnTimes(EVICTING * PULLED + 1024);
    int news = Math.min(rows, EVICTING * PULLED);
    pull(evicting, rows, rows + news);
    table.add(evicting, "pull of rows for which others go", news);
  }

  private TurnTimes shrink() {
    TurnTimes watch = new TurnTimes(rows / 256 + 1024);
    time(watch, () -> shard.shrink(JOB, trainer, ++shrinks, true).whenComplete(TurnsBenchmark.refusalsIn(later)));
    return watch;
  }

  private void pull(TurnTimes watch, int from, int to) {
    for (int at = from; at < to; at += PULLED) {
      long[] ids = LongStream.range(at, Math.min(at + PULLED, to)).map(ZipfBatches::id).toArray();
      Pull pull = new Pull(0, 0, false, List.of(new SparseIds(TABLE, ids)), false);
      time(watch, () -> shard.pull(JOB, pull).whenComplete(TurnsBenchmark.refusalsIn(later)));
    }
  }

  private void time(TurnTimes watch, Runnable request) {
    later.add(request);
    for (Runnable turn = later.poll(); turn != null; turn = later.poll()) {
      watch.time(turn);
    }
  }
}
