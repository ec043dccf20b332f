package io.regatta.training.heter.run;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Advice about a job with heter workers, from measured times of both parts of its network: how many trainers one heter
 * worker feeds, and from which bandwidth the cut pays. Immutable.
 *
 * <p>A trainer with f batches under way makes min(f / (T + R + L + B_out / W + B_back / W), 1 / T) batches per second:
 * T and R are the seconds of a batch at the trainer and at the heter worker, L those of a round trip, B bytes, W bytes
 * per second. A heter worker makes min(1 / R, W / B_out, W / B_back). Without a cut a trainer makes 1 / U, which is NaN
 * where nobody has measured it.
 *
 * @param parts measured
 * @param inFlight batches that a trainer has under way, f
 * @param latencySeconds of a round trip between trainer and heter worker, L
 */
public record HeterAdvice(CutMeasurement.CutCosts parts, int inFlight, double latencySeconds) {

  private static final double BITS = 8;
  private static final double MEGA = 1e6;
  private static final double GIGA = 1e9;
  private static final int DIGITS = 3;

  /** Returns the batches per second of one trainer that has a heter worker for itself. */
  public double trainerRate(double bytesPerSecond) {
    double trip = parts.trainerSeconds() + parts.partSeconds() + latencySeconds + bytes() / bytesPerSecond;
    return Math.min(inFlight / trip, 1 / parts.trainerSeconds());
  }

  /** Returns the batches per second that one heter worker computes at most. */
  public double workerRate(double bytesPerSecond) {
    return Math.min(1 / parts.partSeconds(), bytesPerSecond / Math.max(parts.bytesOut(), parts.bytesBack()));
  }

  /** Returns the number of trainers that keep one heter worker busy without waiting for each other, at least 1. */
  public int feeds(double bytesPerSecond) {
    return (int) Math.max(1, Math.floor(workerRate(bytesPerSecond) / trainerRate(bytesPerSecond) + 1e-9));
  }

  /**
   * Returns the bandwidth in bytes per second from which a trainer is faster with a heter worker than without;
   * infinite: it never is.
   */
  public double paysFrom() {
    double left = inFlight * parts.uncutSeconds() - parts.trainerSeconds() - parts.partSeconds() - latencySeconds;
    return left <= 0 || parts.uncutSeconds() < parts.trainerSeconds() ? Double.POSITIVE_INFINITY : bytes() / left;
  }

  /** Returns the seconds of a step with a heter worker, over those without. */
  public double slowdown(double bytesPerSecond) {
    return 1 / trainerRate(bytesPerSecond) / parts.uncutSeconds();
  }

  private double bytes() {
    return parts.bytesOut() + parts.bytesBack();
  }

  /** Returns the advice in one sentence. */
  public String sentence(double bytesPerSecond) {
    int feeds = feeds(bytesPerSecond);
    return "one heter worker feeds " + feeds + (feeds == 1 ? " trainer" : " trainers") + " at "
        + bandwidth(bytesPerSecond) + "; "
        + (Double.isNaN(parts.uncutSeconds()) ? "regatta heter-advice measures from which bandwidth the cut pays"
            : Double.isInfinite(paysFrom()) ? "the cut pays on no network with this device" : "the cut pays from "
            + bandwidth(paysFrom()))
        + " (" + megabytes(parts.bytesOut()) + " out, " + megabytes(parts.bytesBack()) + " back per batch of "
        + parts.batch() + ")";
  }

  /** Returns the lines of the command: what was measured, a line for each bandwidth, and the sentence for the first. */
  public List<String> lines(List<Double> bytesPerSecond) {
    List<String> lines = new ArrayList<>();
    lines.add("a batch of " + parts.batch() + ": " + millis(parts.uncutSeconds()) + " without a cut; with it " + millis(
        parts.trainerSeconds()) + " at the trainer, " + millis(parts.partSeconds()) + " at the heter worker, "
        + megabytes(parts.bytesOut())
        + " out, " + megabytes(parts.bytesBack()) + " back");
    for (double rate : bytesPerSecond) {
      lines.add(String.format(Locale.ROOT, "at %s: %.1f batches/s of a trainer (without a cut %.1f), %.1f of a heter "
          + "worker, %d trainer%s "
          + "for each", bandwidth(rate), trainerRate(rate), 1 / parts.uncutSeconds(), workerRate(rate), feeds(rate),
          feeds(rate) == 1 ? "" : "s"));
    }
    lines.add(sentence(bytesPerSecond.get(0)));
    return lines;
  }

  private static String millis(double seconds) {
    return String.format(Locale.ROOT, "%.2f ms", seconds * 1e3);
  }

  private static String megabytes(double bytes) {
    return bytes >= MEGA / 10 ? String.format(Locale.ROOT, "%.1f MB", bytes / MEGA) : String.format(Locale.ROOT,
        "%.1f kB", bytes / 1e3);
  }

  /** Returns a number with three digits that count, without zeros at its end. */
  private static String digits(double number) {
    return new BigDecimal(number).round(new MathContext(DIGITS)).stripTrailingZeros().toPlainString();
  }

  private static String bandwidth(double bytesPerSecond) {
    double bits = bytesPerSecond * BITS;
    return bits >= GIGA ? digits(bits / GIGA) + " Gbit/s" : digits(bits / MEGA) + " Mbit/s";
  }
}
