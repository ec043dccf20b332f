package io.regatta.core.shard.internal.free;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseUpdate;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.LittleEndian;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.push.PushApplication;
import io.regatta.core.shard.internal.push.TrainerState;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The application of one push to a job's tables in a mode without rounds. Rows are applied entry by entry, dense
 * elements block by block as they arrive, each whole or not at all. If the optimizer needs norms over whole tensors, they
 * are applied once all have arrived, in two visits of each block. An entry that has been taken stays here until all
 * its rows have been applied. That may take several time slices, and continues even if the stream or the trainer is
 * lost. Owned by the shard's thread.
 *
 * <p>What has been taken is remembered until the push is complete. If the stream breaks, the same push, repeated,
 * resumes from where it was. If it arrives over two streams at the same time, each block is taken from the stream that
 * has it first. Elements that arrive after the end are dropped. A push of several trainers survives the loss of some of
 * them.
 */
public final class FreeApplication implements PushApplication {

  private final FreeStrategy strategy;
  private final JobContext job;
  private final Push push;
  private final List<TrainerState> from;
  private final String who;
  /** Number of this update, the same for all of it, or 0. */
  private final long update;
  private final long staleness;
  /**
   * True if the NaN policy drops what has not been applied: all of it, unless the push was interrupted and repeated
   * with other values.
   */
  private boolean dropped;
  private boolean skipped;
  /** Tables whose rows have been taken, and number of visits of blocks that have been made, or skipped, so far. */
  private final Set<String> tables = new HashSet<>();
  private int visited;
  /** The update of the dense vector, once it has begun. */
  private DenseUpdate dense;
  /** Entries that have been taken and not applied whole; of the first, the rows before {@link #next} have been. */
  private final ArrayDeque<SparseRows> rows = new ArrayDeque<>();
  private int next;
  /** Upper bound of the rows that applying {@link #rows} will create. */
  private long births;
  /** Number of dense elements of this push; -1 if it has none. */
  private int size = -1;
  private boolean done;

  /**
   * Creates the application of a push that has been checked and counted, and of which nothing has been applied.
   *
   * @param push its header, and the values that have arrived
   * @param update 0 for one that the NaN policy drops
   */
  public FreeApplication(FreeStrategy strategy, Push push, List<TrainerState> from, String who, long update, long staleness) {
    this.strategy = strategy;
    job = strategy.job;
    this.push = push;
    this.from = from;
    this.who = who;
    this.update = update;
    this.staleness = staleness;
    dropped = update == 0;
    skipped = dropped;
  }

  /**
   * Returns the application of a part of this push that some of its trainers repeat alone. The part counts as applied
   * as far as the whole has been, and resumes from there; the whole is not continued.
   */
  FreeApplication part(Push alone, List<TrainerState> its, String itsName) {
    FreeApplication part = new FreeApplication(strategy, alone, its, itsName, update, staleness);
    part.dropped = dropped;
    part.skipped = skipped;
    part.tables.addAll(tables);
    part.visited = visited;
    part.size = size;
    return part;
  }

  @Override
  public boolean isOf(Push other) {
    return push.contributors().size() == other.contributors().size() && holds(other);
  }

  /** Returns true if all gradients of that push are in this one. */
  boolean holds(Push other) {
    return other.contributors().stream().allMatch(this::holds);
  }

  /** Returns true if the gradient of this incarnation and sequence is in this push. */
  boolean holds(Contributor other) {
    return push.contributors().stream().anyMatch(c -> c.rank() == other.rank()
        && c.incarnation() == other.incarnation() && c.sequence() == other.sequence());
  }

  @Override
  public long examplesAfter(TrainerState t) {
    return push.contributors().stream().filter(c -> c.rank() == t.rank() && t.progress().examples() >= 0)
        .mapToLong(c -> Math.max(0, c.progress().examples() - t.progress().examples())).findFirst().orElse(0);
  }

  @Override
  public List<TrainerState> from() {
    return from;
  }

  @Override
  public boolean isUpdate() {
    return update > 0;
  }

  @Override
  public long staleness() {
    return staleness;
  }

  @Override
  public boolean skipped() {
    return skipped;
  }

  /** Those of the push's entries of rows that are still to be taken. */
  List<SparseRows> open(List<SparseRows> rows) {
    return rows.stream().filter(r -> !tables.contains(r.table())).toList();
  }

  /**
   * Takes those entries of rows that have not been taken yet.
   *
   * @param unborn upper bound of the rows that applying them will create
   */
  void take(List<SparseRows> entries, long unborn) {
    for (SparseRows r : open(entries)) {
      tables.add(r.table());
      if (!dropped) {
        rows.add(r);
      }
    }
    births += dropped ? 0 : unborn;
  }

  @Override
  public long advance(Push known, long floats) {
    long left = floats;
    while (!rows.isEmpty()) {
      if (left <= 0) {
        return -1;
      }
      left -= rows(rows.peek());
    }
    births = 0;
    DenseValues gradient = known.dense();
    int visits = gradient == null ? 0 : gradient.blocks() * (dropped ? 1 : dense().visits());
    for (; visited < visits; visited++) {
      if (left <= 0) {
        return -1;
      }
      if (!dropped) {
        int block = visited % gradient.blocks();
        dense().apply(visited / gradient.blocks(), block, gradient.block(block));
      }
      left -= (long) DenseValues.BLOCK * (1 + strategy.tables.denseWidth());
    }
    return Math.max(0, left);
  }

  private DenseUpdate dense() {
    if (dense == null) {
      dense = strategy.denseUpdate(push.step(), update);
    }
    return dense;
  }

  private long rows(SparseRows r) {
    int n = Math.min(TimeSlices.ROWS, r.ids().length - next);
    long before = strategy.tables.births();
    long cost = strategy.apply(r, next, next + n, push.step(), update);
    births -= strategy.tables.births() - before;
    next += n;
    if (next == r.ids().length) {
      rows.remove();
      next = 0;
    }
    return cost;
  }

  @Override
  public long births() {
    return births;
  }

  @Override
  public DenseSink sink(int elements) {
    size = elements;
    return new Sink();
  }

  /** Drops what has not been applied, by the NaN policy. */
  void drop() {
    dropped = true;
    skipped = true;
  }

  /** Whether all dense elements have come, if any were to. */
  boolean complete() {
    return size < 0 || visited == DenseValues.blocks(size);
  }

  /** Marks the push as complete: whatever still arrives of it is a repetition. */
  void end() {
    done = true;
  }

  private boolean goesOn() {
    boolean live = false;
    for (TrainerState t : from) {
      if (t.active() && t.application() != this) {
        return false;
      }
      live |= t.active();
    }
    return live;
  }

  private final class Sink implements DenseSink {
    private final BlockPool pool = strategy.tables.blocks();
    /** The block that is arriving; null before one is needed, and after the end. */
    private float[] gradient;
    private int taken;

    @Override
    public void put(ByteBuffer elements) {
      job.checkWhole();
      if (!done && !goesOn()) {
        throw new StaleGeneration(who + " does not go on at " + job.where + ": a later push of the trainer has overtaken "
            + "it, a part of it is being repeated alone, or the trainer has left or was declared lost");
      }
      while (elements.remaining() >= Float.BYTES) {
        int b = taken / DenseValues.BLOCK;
        int at = taken - b * DenseValues.BLOCK;
        int length = Math.min(DenseValues.BLOCK, size - b * DenseValues.BLOCK);
        int n = Math.min(length - at, elements.remaining() / Float.BYTES);
        taken += n;
        if (done || b < visited) {
          elements.position(elements.position() + n * Float.BYTES);
        } else {
          gradient = gradient == null ? pool.take() : gradient;
          LittleEndian.get(elements, gradient, at, n);
          if (at + n == length) {
            block(length);
          }
        }
      }
      if (taken == size && gradient != null) {
        pool.give(gradient);
        gradient = null;
      }
    }

    private void block(int length) {
      int bad = dropped || push.finite() ? -1 : NonFinite.find(gradient, length, pool.scratch());
      if (bad >= 0) {
        strategy.check.nanPolicy(who, "dense element " + (visited * DenseValues.BLOCK + bad) + " is " + gradient[bad]
            + ", and what came before its block has been applied");
        throw new IllegalStateException("a push that may be dropped was applied block by block");
      }
      if (!dropped) {
        try {
          dense().apply(0, visited, gradient);
        } catch (RuntimeException | Error e) {
          PeerLost broken = job.breakDown(who, e);
          job.completions.drain(); // nobody else does: the shard was not asked for anything
          throw broken;
        }
      }
      visited++;
    }

    @Override
    public DenseValues values() {
      return null;
    }
  }
}
