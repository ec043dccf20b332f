package io.regatta.core.shard.internal.parameters;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.SlicedWork;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableCounts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The shrinks of one job on one shard, numbered from 1 by the trainers in each start of the run. Each is a walk over
 * the rows of its tracked tables, spread over time slices. It is done once, however often it is requested. Owned by the
 * shard's thread.
 */
public final class Shrinks {

  /**
   * Cost of examining one row, in floats, beside its width: rows lie one after another, but each begins a cache line.
   */
  private static final int LOOK_FLOATS = 40;

  private final JobContext job;
  private final JobTables tables;
  /** Number of shrinks done before the snapshot was saved from which this run resumes. */
  private long before;
  /** Number of the last shrink since then. */
  private long last;
  private Shrunk result = Shrunk.NONE;
  private Walk open;

  public Shrinks(JobContext job, JobTables tables) {
    this.job = job;
    this.tables = tables;
  }

  /** Returns true while rows are being removed, so that what is seen between time slices is not of one moment. */
  public boolean underWay() {
    return open != null;
  }

  /** Returns the number of shrinks that the rows have been through, over all starts of the run. */
  public long all() {
    return before + last;
  }

  /** Sets the number of shrinks done before the snapshot was saved; the trainers do not request them again. */
  public void resumeAt(long done) {
    before = done;
  }

  /**
   * Does the shrink of that number, or, if it has been done, repeats its result.
   *
   * @param endOfDay whether rows grow a day older
   */
  public void shrink(long number, boolean endOfDay, String who, CompletableFuture<Shrunk> done) {
    if (number < 1) {
      throw new InvalidInput(who + " at " + job.where + ": shrinks count from 1, not " + number);
    }
    if (number <= last && open == null || number < last) {
      job.completions.value(done, result);
      return;
    }
    if (open != null) {
      if (number != last) {
        throw new InvalidInput(who + " at " + job.where + " came before the shrink " + last
            + " was answered; ask for one after another");
      }
      open.owed.add(done);
      return;
    }
    last = number;
    open = new Walk(endOfDay, who, job.nowMillis());
    open.owed.add(done);
    job.turns.start(open);
  }

  /** Fails the requests that wait: the job is being freed, or has broken. */
  public void giveUp(Function<String, RegattaException> why) {
    if (open != null) {
      RegattaException reason = why.apply(open.who + " at " + job.where + " given up");
      open.owed.forEach(done -> job.completions.error(done, reason));
      open = null;
    }
  }

  /** One shrink, as work that is spread over time slices. */
  private final class Walk implements SlicedWork {
    private final boolean endOfDay;
    private final String who;
    private final long sinceMillis;
    private final List<CompletableFuture<Shrunk>> owed = new ArrayList<>();
    private final Iterator<SparseTable> rest = tables.sparseTables().iterator();
    private Shrunk before = Shrunk.NONE;
    private SparseTable table;
    private int mark;
    private int segment;
    private int row;

    Walk(boolean endOfDay, String who, long sinceMillis) {
      this.endOfDay = endOfDay;
      this.who = who;
      this.sinceMillis = sinceMillis;
      before = counted();
    }

    @Override
    public long advance(long floats) {
      try {
        long left = floats;
        while (nextRows()) {
          if (left <= 0) {
            return -1;
          }
          left -= rows();
        }
        return Math.max(0, left);
      } catch (RuntimeException | Error e) {
        job.breakDown(who, e);
        return 0;
      }
    }

    /** Advances to the next rows to examine; returns false if there are none. */
    private boolean nextRows() {
      while (table == null || row >= table.rows(segment)) {
        row = 0;
        if (table == null || ++segment == SparseTable.SEGMENTS) {
          if (table != null) {
            table.shrunk();
          }
          table = null;
          segment = 0;
          while (table == null) {
            if (!rest.hasNext()) {
              return false;
            }
            SparseTable next = rest.next();
            table = next.layout().tracked() ? next : null;
          }
          mark = table.mark();
        }
      }
      return true;
    }

    private long rows() {
      int n = Math.min(TimeSlices.ROWS, table.rows(segment) - row);
      int removed = table.shrink(segment, row, row + n, mark, endOfDay);
      row += n;
      return (long) n * (LOOK_FLOATS + table.layout().width()) + 2L * TimeSlices.ROW_FLOATS * removed;
    }

    @Override
    public void over() {
      if (open != this) {
        return; // given up
      }
      open = null;
      Shrunk now = counted();
      result = new Shrunk(now.byScore() - before.byScore(), now.unseen() - before.unseen(),
          now.expired() - before.expired(), now.left());
      owed.forEach(done -> job.completions.value(done, result));
    }

    private Shrunk counted() {
      Shrunk sum = Shrunk.NONE;
      for (SparseTable t : tables.sparseTables()) {
        TableCounts c = t.counts();
        sum = sum.plus(new Shrunk(c.shrunkByScore(), c.shrunkUnseen(), c.expired(), t.size()));
      }
      return sum;
    }

    @Override
    public void waits(List<Wait> out) {
      out.add(new Wait(who, "shrink", job.where, sinceMillis, List.of(Wait.Peer.named("rows, which are being looked at"))));
    }
  }
}
