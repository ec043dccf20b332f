package io.regatta.core.shard;

import io.regatta.core.dense.DenseValues;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * A sync round on its way into the tables, whose pushes are all there, so cut that it can be spread over turns: the dense
 * vector is merged and applied block by block, then the rows table by table, merged and then applied some at a time. Owned
 * by the shard's thread.
 */
final class RoundClosing {

  /** What summing one row costs beside its floats: a look-up in the map from id to row. */
  private static final int MERGED_ROW_FLOATS = 200;

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

  /**
   * Of which nothing has been applied.
   *
   * @param update number of this update
   * @param rooms for each table's rows to be summed in, until this is over
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
    blockFloats = DenseValues.BLOCK * (round.pushes.size() + tables.denseWidth());
  }

  /**
   * Goes on by about this much ({@link Turns#FLOATS}).
   *
   * @return what it did not need of it, or -1 if there is more to do
   */
  long advance(long floats) {
    long left = floats;
    while (left > 0) {
      if (block < blocks) {
        tables.update(block, gradient.block(block), round.step, update);
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

  /** Merges some rows, or applies some of what has been merged; returns what that cost. */
  private long rows(RowSum sum) {
    if (sum.advance(Turns.ROWS)) {
      return Turns.ROWS * MERGED_ROW_FLOATS;
    }
    int n = Math.min(Turns.ROWS, sum.size() - row);
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
