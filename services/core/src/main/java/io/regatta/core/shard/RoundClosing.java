package io.regatta.core.shard;

import io.regatta.core.dense.DenseValues;
import java.util.ArrayDeque;

/**
 * A sync round on its way into the tables, whose pushes are all there, so cut that it can be spread over turns: the dense
 * vector is merged and applied block by block, then the rows table by table, merged and then applied some at a time. Owned
 * by the shard's thread.
 */
final class RoundClosing {

  /** What one turn reads and writes at most, in floats, but for a block begun: about a millisecond. */
  static final int TURN_FLOATS = 2 << 20;
  /** Of a row, beside its floats: that it is somewhere in memory, 200 to 300 ns in a table of 10 million rows. */
  private static final int ROW_FLOATS = 400;
  /** The same of a row that is merged: in the map from id to row. */
  private static final int MERGED_ROW_FLOATS = 200;
  private static final int ROWS = 256;

  final SyncRounds.Round round;
  private final JobTables tables;
  private final long update;
  /** What a block costs, in floats. */
  private final int blockFloats;
  private final DenseValues gradient;
  private final int blocks;
  /** Of the tables that have not been applied. */
  private final ArrayDeque<RowSum> sums;
  private int block;
  private int row;

  /** @param update number of this update */
  RoundClosing(SyncRounds.Round round, JobTables tables, long update) {
    this.round = round;
    this.tables = tables;
    this.update = update;
    RoundReducer.Begun merged = round.pushes.isEmpty() ? null : RoundReducer.begin(round.pushes);
    gradient = merged == null ? null : merged.push().dense();
    blocks = gradient == null ? 0 : gradient.blocks();
    sums = new ArrayDeque<>();
    if (merged != null) {
      sums.addAll(merged.rows());
    }
    blockFloats = DenseValues.BLOCK * (round.pushes.size() + tables.denseWidth());
  }

  /**
   * Applies as much as costs this many floats, or a little more.
   *
   * @return whether there is more to do
   */
  boolean advance(long floats) {
    long left = floats;
    while (left > 0) {
      if (block < blocks) {
        tables.update(block, gradient.block(block), round.step, update);
        block++;
        left -= blockFloats;
      } else if (!sums.isEmpty()) {
        left -= rows(sums.peek());
      } else {
        return false;
      }
    }
    return true;
  }

  /** Merges some rows, or applies some of what has been merged; returns what that cost. */
  private long rows(RowSum sum) {
    if (sum.advance(ROWS)) {
      return ROWS * MERGED_ROW_FLOATS;
    }
    SparseRows rows = sum.untrimmed();
    int n = Math.min(ROWS, sum.size() - row);
    long before = tables.rows();
    tables.update(rows, row, row + n, round.step, update);
    round.births -= tables.rows() - before;
    row += n;
    if (row == sum.size()) {
      sums.remove();
      row = 0;
    }
    return 1 + n * (ROW_FLOATS + (n == 0 ? 0 : (long) rows.values().length / rows.ids().length));
  }
}
