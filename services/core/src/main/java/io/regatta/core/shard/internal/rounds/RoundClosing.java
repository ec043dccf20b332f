package io.regatta.core.shard.internal.rounds;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.reduce.RoundReducer;
import io.regatta.core.reduce.RowRoom;
import io.regatta.core.reduce.RowSum;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.JobTables;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * The application of a complete sync round to the tables, which can be spread over time slices. The dense vector is
 * merged and applied block by block. If the optimizer needs norms over whole tensors, all blocks are measured before
 * the first is applied; where other shards hold parts of the tensors, their sums are waited for in between. Then the rows are merged and applied table by table, some at a time. Owned by the
 * shard's thread.
 */
final class RoundClosing {

  /** Cost of summing one row beside its floats, in floats: a look-up in the map from id to row. */
  private static final int MERGED_ROW_FLOATS = 200;

  final SyncRounds.Round round;
  private final JobTables tables;
  private final long update;
  /** Cost of a block, in floats. */
  private final int blockFloats;
  private final DenseValues gradient;
  private final int blocks;
  /** Sums of the tables that have not been applied. */
  private final ArrayDeque<RowSum> sums;
  private int block;
  /** Sums of squares of this shard's parts, or null if the optimizer needs none. */
  private final double[] squares;
  /** Sums of whole tensors; null while they are not known. */
  private double[] totals;
  private int measured;
  private int row;

  /**
   * Creates the application of a round of which nothing has been applied.
   *
   * @param update number of this update
   * @param rooms room to sum each table's rows in, in use until this is over
   */
  RoundClosing(SyncRounds.Round round, JobTables tables, long update, Function<String, RowRoom> rooms) {
    this.round = round;
    this.tables = tables;
    this.update = update;
    RoundReducer.Begun merged = round.pushes.isEmpty() ? null : RoundReducer.begin(round.pushes, rooms);
    gradient = merged == null ? null : merged.push().dense();
    blocks = gradient == null ? 0 : gradient.blocks();
    sums = new ArrayDeque<>();
    if (merged != null) {
      sums.addAll(merged.rows());
    }
    squares = tables.needsNorms() ? tables.noSums() : null;
    blockFloats = DenseValues.BLOCK * (round.pushes.size() + tables.denseWidth());
  }

  /**
   * Merges and applies about {@code floats} of work ({@link TimeSlices#FLOATS}).
   *
   * @return the budget that is left, or -1 if there is more to do; nothing can be done while {@link #awaitsTotals}
   */
  long advance(long floats) {
    long left = floats;
    while (left > 0) {
      if (squares != null && measured < blocks) {
        tables.measure(measured, gradient.block(measured), round.step, update, squares);
        measured++;
        left -= blockFloats;
      } else if (awaitsTotals()) {
        return left;
      } else if (block < blocks) {
        if (squares == null) {
          tables.update(block, gradient.block(block), round.step, update);
        } else {
          tables.update(block, gradient.block(block), round.step, update, totals);
        }
        block++;
        left -= blockFloats;
      } else if (!sums.isEmpty()) {
        left -= rows(sums.peek());
      } else {
        return left;
      }
    }
    return -1;
  }

  /** Returns true if all blocks have been measured, and the sums of whole tensors are not known yet. */
  boolean awaitsTotals() {
    return squares != null && measured == blocks && blocks > 0 && totals == null;
  }

  /** Returns true if all that is to be measured has been. */
  boolean isMeasured() {
    return squares != null && measured == blocks;
  }

  /** Returns the sums of squares of this shard's parts. */
  double[] squares() {
    return squares;
  }

  /** Takes the sums of whole tensors. */
  void totals(double[] whole) {
    totals = whole;
  }

  /** Merges some rows, or applies some of what has been merged; returns the cost. */
  private long rows(RowSum sum) {
    if (sum.advance(TimeSlices.ROWS)) {
      return TimeSlices.ROWS * MERGED_ROW_FLOATS;
    }
    int n = Math.min(TimeSlices.ROWS, sum.size() - row);
    long before = tables.births();
    long cost = sum.read(row, row + n, (rows, from, to) -> tables.update(rows, from, to, round.step, update));
    round.births -= tables.births() - before;
    row += n;
    if (row == sum.size()) {
      sums.remove();
      row = 0;
    }
    return cost;
  }
}
