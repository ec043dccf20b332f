package io.regatta.core.shard;

import io.regatta.core.exchange.SparseRows;
import java.util.AbstractList;

/**
 * One entry of a push, which another takes the place of once it has been read a number of times. A shard is promised that what
 * it was given stays as it is: broken here, to make it fail at any place.
 */
final class ReplacedRows extends AbstractList<SparseRows> {

  private final SparseRows good;
  private final SparseRows bad;
  private int reads;

  /** @param reads of the good entry, before all others are of the bad one */
  ReplacedRows(SparseRows good, SparseRows bad, int reads) {
    this.good = good;
    this.bad = bad;
    this.reads = reads;
  }

  @Override
  public SparseRows get(int index) {
    return reads-- > 0 ? good : bad;
  }

  @Override
  public int size() {
    return 1;
  }
}
