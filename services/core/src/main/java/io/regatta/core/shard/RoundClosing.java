package io.regatta.core.shard;

import io.regatta.core.dense.DenseValues;
import java.util.List;

/**
 * A sync round on its way into the tables, whose pushes are all there: merged and applied in one pass, block by block and
 * some rows at a time, so that it can be spread over turns. Owned by the shard's thread.
 */
final class RoundClosing {

  /** What one turn reads and writes at most, in floats, but for a block begun: about a millisecond. */
  static final int TURN_FLOATS = 2 << 20;
  /** Of a row, beside its floats: that it is somewhere in memory, 200 to 300 ns in a table of 10 million rows. */
  private static final int ROW_FLOATS = 400;
  private static final int ROWS = 256;

  final SyncRounds.Round round;
  private final JobTables tables;
  private final long update;
  /** What a block costs, in floats. */
  private final int blockFloats;
  private final DenseValues gradient;
  private final int blocks;
  private final List<SparseRows> sparse;
  private int block;
  private int entry;
  private int row;

  /** @param update number of this update */
  RoundClosing(SyncRounds.Round round, JobTables tables, long update) {
    this.round = round;
    this.tables = tables;
    this.update = update;
    Push merged = round.pushes.isEmpty() ? null : RoundReducer.merge(round.pushes);
    gradient = merged == null ? null : merged.dense();
    blocks = gradient == null ? 0 : gradient.blocks();
    sparse = merged == null ? List.of() : merged.sparse();
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
      } else if (entry < sparse.size()) {
        left -= rows(sparse.get(entry));
      } else {
        return false;
      }
    }
    return true;
  }

  private long rows(SparseRows rows) {
    int n = Math.min(ROWS, rows.ids().length - row);
    if (n <= 0) {
      entry++;
      row = 0;
      return 1;
    }
    long before = tables.rows();
    tables.update(rows, row, row + n, round.step, update);
    round.births -= tables.rows() - before;
    row += n;
    return n * (ROW_FLOATS + (long) rows.values().length / rows.ids().length);
  }
}
