package io.regatta.core.shard.internal.rounds;

import io.regatta.core.dense.DenseUpdate;
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
 * merged and applied block by block, twice if the optimizer needs norms over whole tensors. Then the rows are merged and
 * applied table by table, some at a time. Owned by the shard's thread.
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
  private final DenseUpdate dense;
  /** Number of visits of blocks that there are to make. */
  private final int visits;
  /** Sums of the tables that have not been applied. */
  private final ArrayDeque<RowSum> sums;
  /** Number of visits that have been made. */
  private int visited;
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
    dense = gradient == null ? null : tables.denseUpdate(round.step, update);
    visits = gradient == null ? 0 : gradient.blocks() * dense.visits();
    sums = new ArrayDeque<>();
    if (merged != null) {
      sums.addAll(merged.rows());
    }
    blockFloats = DenseValues.BLOCK * (round.pushes.size() + tables.denseWidth());
  }

  /**
   * Merges and applies about {@code floats} of work ({@link TimeSlices#FLOATS}).
   *
   * @return the budget that is left, or -1 if there is more to do
   */
  long advance(long floats) {
    long left = floats;
    while (left > 0) {
      if (visited < visits) {
        int block = visited % gradient.blocks();
        dense.apply(visited / gradient.blocks(), block, gradient.block(block));
        visited++;
        left -= blockFloats;
      } else if (!sums.isEmpty()) {
        left -= rows(sums.peek());
      } else {
        return left;
      }
    }
    return -1;
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
