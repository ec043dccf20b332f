package io.regatta.core.collective.compress;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The number of local steps after which the ranks average their parameters. Belongs to one thread. In the first {@code
 * beginStep} steps the ranks average after each step. All ranks get the same losses, and so have the same k.
 *
 * <p>In LocalSGD it is always k (Stich, "Local SGD converges fast and communicates little", 2019; Lin et al., "Don't
 * use large mini-batches, use local SGD", 2020).
 *
 * <p>Its adaptive form is by Wang, Joshi, "Adaptive communication strategies to achieve the best error-runtime
 * trade-off in local-update SGD", 2019. It has PaddlePaddle's rule: k = ⌈√((η₀ / η) · (F / F₀) · init_k_steps)⌉, from 1
 * to 16. Here η is the learning rate and F the loss at an averaging, F₀ the loss at the first one, and η₀ the highest
 * rate so far. The paper takes init_k_steps out of the root. PaddlePaddle takes the first rate for η₀, which after a
 * warm-up would make every k 1; without a warm-up it is the highest.
 */
public final class LocalSteps {

  /** PaddlePaddle's limit of the adaptive form. */
  private static final int MOST = 16;

  private final boolean adaptive;
  private final int initKSteps;
  private final long beginStep;
  private int kSteps;
  private double firstLoss;
  private double highestRate;

  private LocalSteps(boolean adaptive, int kSteps, long beginStep) {
    if (kSteps < 1 || beginStep < 0) {
      throw new InvalidInput((adaptive ? "adaptive_localsgd: init_k_steps" : "localsgd: k_steps")
          + " must be at least 1 and begin_step at least 0, not " + kSteps + " and " + beginStep);
    }
    this.adaptive = adaptive;
    this.kSteps = kSteps;
    this.beginStep = beginStep;
    initKSteps = kSteps;
  }

  /** Returns a number that stays the same. */
  public static LocalSteps fixed(int kSteps, long beginStep) {
    return new LocalSteps(false, kSteps, beginStep);
  }

  /** Returns a number that adapts after each averaging, and begins with {@code initKSteps}. */
  public static LocalSteps adaptive(int initKSteps, long beginStep) {
    return new LocalSteps(true, initKSteps, beginStep);
  }

  /** Returns true if {@link #averaged} needs a loss. */
  public boolean isAdaptive() {
    return adaptive;
  }

  /** Returns the present number of steps between two averagings. */
  public int kSteps() {
    return kSteps;
  }

  /**
   * Returns true if it is time to average.
   *
   * @param steps that the rank has made in the run
   * @param local of these, those since the last averaging
   */
  public boolean isDue(long steps, long local) {
    return steps <= beginStep || local >= kSteps;
  }

  /**
   * Notes that the ranks have averaged. If loss and rate give no number, k stays as it is.
   *
   * @param loss mean of the ranks' last batches
   * @param rate learning rate of the last step
   */
  public void averaged(double loss, double rate) {
    if (!adaptive) {
      return;
    }
    if (highestRate == 0) {
      firstLoss = loss;
    }
    highestRate = Math.max(highestRate, rate);
    double k = Math.ceil(Math.sqrt(highestRate * loss / (rate * firstLoss) * initKSteps));
    if (!Double.isNaN(k)) {
      kSteps = (int) Math.max(1, Math.min(MOST, k));
    }
  }
}
