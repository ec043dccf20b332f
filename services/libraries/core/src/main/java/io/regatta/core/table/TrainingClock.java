package io.regatta.core.table;

import java.util.function.LongSupplier;

/**
 * The clock that dates rows: seconds of training, counted by a monotonic source. It stands still while the job does not run,
 * and continues, after rows have been restored, at the latest date among them. Neither a jump of the server's wall clock
 * nor the time between two runs makes a row older. Owned by the thread of its {@link TableGroup}.
 */
final class TrainingClock {

  private static final int MILLIS = 1000;

  private final LongSupplier monotonicMillis;
  /** Source's time at which this clock shows {@link #base}. */
  private long sinceMillis;
  private long base;
  private boolean continues;

  TrainingClock(LongSupplier monotonicMillis) {
    this.monotonicMillis = monotonicMillis;
    sinceMillis = monotonicMillis.getAsLong();
  }

  /** Returns the seconds of training, an unsigned int. */
  int seconds() {
    return (int) (base + Math.max(0, monotonicMillis.getAsLong() - sinceMillis) / MILLIS);
  }

  /** Continues at this date, unless a row with a later one has been restored. */
  void restored(int seconds) {
    long date = Integer.toUnsignedLong(seconds);
    if (!continues || date > base) {
      continues = true;
      base = date;
      sinceMillis = monotonicMillis.getAsLong();
    }
  }
}
