package io.regatta.core.shard;

import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.LittleEndian;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.error.RegattaException.StaleGeneration;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One push on its way into a job's tables in a mode without rounds: its rows entry by entry, its dense elements block by
 * block as they come, each whole or not at all. What has been applied is known until the push is complete, so that the same
 * push, repeated behind a broken stream, goes on where it was. Owned by the shard's thread.
 */
final class Application {

  private final JobState job;
  private final Push push;
  private final List<TrainerState> from;
  private final String who;
  /** Number of this update, the same for all of it, or 0. */
  final long update;
  final long staleness;
  /** The NaN policy drops what has not been applied: all, unless it was broken off and comes with other values. */
  private boolean dropped;
  private boolean skipped;
  /** Applied, or skipped, so far. */
  private int entries;
  private int blocks;
  /** The only one that may go on. */
  private Sink sink;

  /**
   * A push that has been checked and counted, and of which nothing has been applied.
   *
   * @param push its header, and what has come of it
   * @param update 0 for one that the NaN policy drops
   */
  Application(JobState job, Push push, List<TrainerState> from, String who, long update, long staleness) {
    this.job = job;
    this.push = push;
    this.from = from;
    this.who = who;
    this.update = update;
    this.staleness = staleness;
    dropped = update == 0;
    skipped = dropped;
  }

  /** Whether this is the same push: of the same lives, with the same sequences. */
  boolean isOf(Push other) {
    List<Contributor> mine = push.contributors();
    List<Contributor> others = other.contributors();
    boolean same = mine.size() == others.size();
    for (int i = 0; same && i < mine.size(); i++) {
      same = mine.get(i).rank() == others.get(i).rank() && mine.get(i).sequence() == others.get(i).sequence();
    }
    return same;
  }

  /** Whether this life's gradient of that sequence is inside. */
  boolean holds(int rank, long sequence) {
    return push.contributors().stream().anyMatch(c -> c.rank() == rank && c.sequence() == sequence);
  }

  /** Whether a part was not applied because it was NaN or infinite. */
  boolean skipped() {
    return skipped;
  }

  /** Those of the push's entries of rows that are still to be applied. */
  List<SparseRows> open(List<SparseRows> rows) {
    return rows.subList(Math.min(entries, rows.size()), rows.size());
  }

  /** Applies what is still to be applied of a push, as far as it has come; that has been checked. */
  void apply(Push known) {
    for (SparseRows rows : open(known.sparse())) {
      if (!dropped) {
        job.apply(rows, push.step(), update);
      }
      entries++;
    }
    DenseValues gradient = known.dense();
    for (; gradient != null && blocks < gradient.blocks(); blocks++) {
      if (!dropped) {
        job.apply(blocks, gradient.block(blocks), push.step(), update);
      }
    }
  }

  /** Takes the dense elements, from the first one on whatever has been applied; nobody else may do so any more. */
  DenseSink sink(int size) {
    sink = new Sink(size);
    return sink;
  }

  /** The NaN policy drops what has not been applied. */
  void drop() {
    dropped = true;
    skipped = true;
  }

  /** Whether all dense elements have come, if any were to. */
  boolean complete() {
    return sink == null || blocks == DenseValues.blocks(sink.size);
  }

  private final class Sink implements DenseSink {
    private final int size;
    private final float[] gradient = new float[DenseValues.BLOCK];
    private int taken;

    Sink(int size) {
      this.size = size;
    }

    @Override
    public void put(ByteBuffer elements) {
      job.checkWhole();
      if (sink != this || from.get(0).application != Application.this) {
        throw new StaleGeneration(who + " does not go on at " + job.where + ": it is being repeated on another stream, a "
            + "later push of the trainer has overtaken it, or the trainer has left or was declared lost");
      }
      while (elements.remaining() >= Float.BYTES) {
        int b = taken / DenseValues.BLOCK;
        int at = taken - b * DenseValues.BLOCK;
        int length = Math.min(DenseValues.BLOCK, size - b * DenseValues.BLOCK);
        int n = Math.min(length - at, elements.remaining() / Float.BYTES);
        LittleEndian.get(elements, gradient, at, n);
        taken += n;
        if (at + n == length && b == blocks) {
          block(length);
        }
      }
    }

    private void block(int length) {
      int bad = dropped ? -1 : NonFinite.find(gradient, length, job.tables.scratch());
      if (bad >= 0) {
        job.check.nanPolicy(who, "dense element " + (blocks * DenseValues.BLOCK + bad) + " is " + gradient[bad]
            + ", and what came before its block has been applied");
        skipped = true;
      } else if (!dropped) {
        try {
          job.apply(blocks, gradient, push.step(), update);
        } catch (RuntimeException | Error e) {
          throw job.breakDown(who, e);
        }
      }
      blocks++;
    }

    @Override
    public DenseValues values() {
      return null;
    }
  }
}
