package io.regatta.core.progress;

import java.util.function.DoubleSupplier;

/**
 * Where a training loop says how far it is. One owner: the model thread of the replica that reports (replica 0 of
 * rank 0 by default); the others get {@link #none()}. A phase begins with {@link #begin}, and ends with {@link #end}
 * or with the next {@code begin}. Each method does nothing unless it is overridden.
 */
public interface Progress extends AutoCloseable {

  /** Bytes of one. */
  long MEGABYTE = 1_000_000;

  /**
   * Starts a phase.
   *
   * @param phase short name, such as {@code train} or {@code test}
   * @param examples examples that the phase will see on this replica, or -1 if unknown
   */
  default void begin(String phase, long examples) {}

  /** Starts a phase that counts something else than examples, for instance {@code MB}. */
  default void begin(String phase, long amount, String unit) {
    begin(phase, amount);
  }

  /**
   * So much of the phase was done before it began, by the earlier life of a run that goes on: it counts as done, but
   * not for rate and time left. Called right behind {@link #begin}.
   */
  default void behind(long amount) {}

  /** Changes the amount of the phase that {@link #begin} gave, because the work is now divided among more or fewer trainers. */
  default void resize(long amount) {}

  /**
   * How to find out which share of the phase is done, where its amount is not known, or may be less: for the time left.
   *
   * @param done from 0 to 1, NaN if that is not known now; asked by the owner's thread
   */
  default void share(DoubleSupplier done) {}

  /** Counts examples (or what else the phase counts) done in this phase. */
  default void advance(long amount) {}

  /**
   * Newest value of a metric of the phase (such as {@code loss} or {@code auc}), shown until the next one. Values are
   * given only where the loop has them anyway: reading a loss from the engine waits for the step to be computed.
   */
  default void metric(String name, double value) {}

  /** A phase that counts megabytes: begun when something is loaded first, ended by {@link #end}. */
  default LoadListener loading(String phase) {
    long[] shown = {-1};
    return (bytes, all) -> {
      if (shown[0] < 0) {
        begin(phase, Math.max(1, all / MEGABYTE), "MB");
        shown[0] = 0;
      }
      advance(bytes / MEGABYTE - shown[0]);
      shown[0] = bytes / MEGABYTE;
    };
  }

  /** Announces a file of the model that is about to be written, file after file; on the rank that saves it. */
  default void saving(String file) {}

  /** Prints one line of text without disturbing the bar. */
  default void line(String text) {}

  /** Ends the phase and prints its totals. Does nothing if no phase is open. */
  default void end() {}

  /** Gives back the terminal; a phase that is still open was broken off. */
  @Override
  default void close() {}

  /** One that swallows everything. */
  static Progress none() {
    return NoProgress.INSTANCE;
  }
}
