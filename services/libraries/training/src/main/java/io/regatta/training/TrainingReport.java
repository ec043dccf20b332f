package io.regatta.training;

/**
 * The result of one call of {@link Worker#trainFromDataset}. Times are wall clock of this replica's model thread, in
 * seconds; they add up to {@code seconds} except for the loop's own overhead.
 *
 * @param steps batches trained
 * @param examples examples trained
 * @param seconds whole time
 * @param loss mean training loss over all examples
 * @param readSeconds waiting for the reader and making arrays of its batches
 * @param pullSeconds waiting for parameters and rows
 * @param forwardSeconds forward pass without the pulls inside it; the engine may run it later, during backward or push
 * @param backwardSeconds backward pass
 * @param pushSeconds reading the gradients and passing them to the links; geo: local update and exchange
 */
public record TrainingReport(long steps, long examples, double seconds, double loss, double readSeconds,
    double pullSeconds, double forwardSeconds, double backwardSeconds, double pushSeconds) {

  /** Returns the empty report, to which those of passes are added. */
  public static TrainingReport none() {
    return new TrainingReport(0, 0, 0, Double.NaN, 0, 0, 0, 0, 0);
  }

  /** Returns the sum of this report and that of a later pass. */
  public TrainingReport plus(TrainingReport next) {
    double sum = (examples == 0 ? 0 : loss * examples) + (next.examples == 0 ? 0 : next.loss * next.examples);
    return new TrainingReport(steps + next.steps, examples + next.examples, seconds + next.seconds,
        sum / (examples + next.examples), readSeconds + next.readSeconds, pullSeconds + next.pullSeconds,
        forwardSeconds + next.forwardSeconds, backwardSeconds + next.backwardSeconds, pushSeconds + next.pushSeconds);
  }

  /** Returns the shares of the time in one line: {@code time: read 3 %, pull 20 %, forward 30 %, ..., other 2 %}. */
  public String timeLine() {
    double percent = seconds > 0 ? 100 / seconds : 0;
    double other = seconds - readSeconds - pullSeconds - forwardSeconds - backwardSeconds - pushSeconds;
    return String.format(java.util.Locale.ROOT,
        "time: read %.0f %%, pull %.0f %%, forward %.0f %%, backward %.0f %%, push %.0f %%, other %.0f %%",
        readSeconds * percent, pullSeconds * percent, forwardSeconds * percent, backwardSeconds * percent,
        pushSeconds * percent, Math.max(0, other) * percent);
  }

  /**
   * Returns the shares of {@code read} of {@link #timeLine} in one line.
   *
   * @param waitedSeconds time of it spent waiting for readers, which more or faster readers could save
   */
  public String readLine(double waitedSeconds) {
    double percent = seconds > 0 ? 100 / seconds : 0;
    return String.format(java.util.Locale.ROOT,
        "of read, %.0f %% waited for readers (%.2f s of %.1f s), %.0f %% made arrays of their batches after the engine's "
            + "previous step",
        waitedSeconds * percent, waitedSeconds, seconds, Math.max(0, readSeconds - waitedSeconds) * percent);
  }

  public double examplesPerSecond() {
    return seconds > 0 ? examples / seconds : 0;
  }

  /**
   * Returns one line for people: {@code 400 steps, 51200 examples in 3.2 s (16000 examples/s): read 0.1 s, pull ...}.
   */
  public String sentence() {
    return String.format(java.util.Locale.ROOT,
        "%d steps, %d examples in %.1f s (%.0f examples/s), loss %.5f: read %.2f s, pull %.2f s, forward %.2f s, "
            + "backward %.2f s, push %.2f s",
        steps, examples, seconds, examplesPerSecond(), loss, readSeconds, pullSeconds, forwardSeconds, backwardSeconds,
        pushSeconds);
  }
}
