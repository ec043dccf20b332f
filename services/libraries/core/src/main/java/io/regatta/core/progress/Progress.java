package io.regatta.core.progress;

import java.util.function.DoubleSupplier;

/**
 * The progress display of a training loop. Owner: the model thread of the replica that reports, which is replica 0 of
 * rank 0 by default; the others get {@link #none()}. A phase begins with {@link #begin}, and ends with {@link #end} or
 * with the next {@code begin}. Each method does nothing unless it is overridden.
 */
public interface Progress extends AutoCloseable {

  /** Bytes of one megabyte, as phases count them. */
  long MEGABYTE = 1_000_000;

  /**
   * Starts a phase.
   *
   * @param phase short name, such as {@code train} or {@code test}
   * @param examples examples that the phase will see on this replica, or -1 if unknown
   */
  default void begin(String phase, long examples) {}

  /** Starts a phase that counts something other than examples, for instance {@code MB}. */
  default void begin(String phase, long amount, String unit) {
    begin(phase, amount);
  }

  /**
   * Counts an amount as done that an earlier process of this run did before the phase began. It counts for the share
   * that is done, but not for the rate and the time left. Called immediately after {@link #begin}.
   */
  default void behind(long amount) {}

  /**
   * Changes the amount of the phase that {@link #begin} gave, after the work has been divided among another number of
   * trainers.
   */
  default void resize(long amount) {}

  /**
   * Sets how to find the share of the phase that is done. It serves to estimate the time left where the amount is
   * unknown, or may turn out less.
   *
   * @param done from 0 to 1, NaN if that is not known now; called on the owner's thread
   */
  default void share(DoubleSupplier done) {}

  /** Counts examples, or the phase's other unit, as done. */
  default void advance(long amount) {}

  /**
   * Sets the newest value of a metric of the phase, such as {@code loss} or {@code auc}; it is shown until the next
   * one. Call it only with values that the loop has anyway: reading a loss from the engine waits for the step.
   */
  default void metric(String name, double value) {}

  /**
   * Returns a listener that reports loading as a phase in megabytes: begun at its first call, ended by {@link #end}.
   */
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

  /**
   * Announces that a file of the model is about to be written; called once per file, on the rank that saves the model.
   */
  default void saving(String file) {}

  /** Prints one line of text without disturbing the bar. */
  default void line(String text) {}

  /** Ends the phase and prints its totals. Does nothing if no phase is open. */
  default void end() {}

  /** Releases the terminal. A phase that is still open counts as aborted. */
  @Override
  default void close() {}

  /** Returns the display without output. */
  static Progress none() {
    return NoProgress.INSTANCE;
  }
}
