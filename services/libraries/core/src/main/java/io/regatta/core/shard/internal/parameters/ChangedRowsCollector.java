package io.regatta.core.shard.internal.parameters;

import io.regatta.core.exchange.SparseIds;
import io.regatta.core.shard.internal.job.TimeSlices;
import java.util.List;

/**
 * A walk that collects the ids of rows that have changed since a trainer was last sent them, some at a time. Rows that change
 * meanwhile may be included, and will be reported again; none that changed before is missing. Owned by the shard's thread.
 */
public interface ChangedRowsCollector {

  /**
   * Collects further ids, for about {@code floats} of work ({@link TimeSlices#FLOATS}).
   *
   * @return the budget that is left, or -1 if there is more to do
   */
  long advance(long floats);

  /** Returns the ids by table, once {@link #advance} has not returned -1. */
  List<SparseIds> found();

  /** Returns the version of the changes up to which all are among those collected. */
  long version();
}
