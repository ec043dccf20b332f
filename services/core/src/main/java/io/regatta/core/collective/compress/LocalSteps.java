package io.regatta.core.collective.compress;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * After how many local steps the ranks average their parameters. LocalSGD (Stich, "Local SGD converges fast and
 * communicates little", 2019; Lin et al., "Don't use large mini-batches, use local SGD", 2020): always k. Its adaptive
 * form (Wang, Joshi, "Adaptive communication strategies to achieve the best error-runtime trade-off in local-update
 * SGD", 2019) with PaddlePaddle's rule: k = ⌈√((η₀ / η) · (F / F₀) · init_k_steps)⌉, from 1 to 16, of the learning rate
 * η and the loss F at each averaging, the loss at the first one and the highest rate so far. (The paper takes
 * init_k_steps out of the root. PaddlePaddle takes the first rate, which behind a warm-up would make every k 1; without
 * one it is the highest.) In the first {@code beginStep} steps the ranks average after each. All ranks hear the same
 * losses, and so have the same k.
 * Belongs to one thread.
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

  /** Always so many. */
  public static LocalSteps fixed(int kSteps, long beginStep) {
    return new LocalSteps(false, kSteps, beginStep);
  }

  /** At first so many. */
  public static LocalSteps adaptive(int initKSteps, long beginStep) {
    return new LocalSteps(true, initKSteps, beginStep);
  }

  /** Whether {@link #averaged} needs to be told a loss. */
  public boolean isAdaptive() {
    return adaptive;
  }

  /** Steps between two averagings now. */
  public int kSteps() {
    return kSteps;
  }

  /**
   * Whether it is time to average.
   *
   * @param steps that the rank has made in the run
   * @param local of these, those since the last averaging
   */
  public boolean isDue(long steps, long local) {
    return steps <= beginStep || local >= kSteps;
  }

  /**
   * The ranks have averaged. A loss or rate that gives no number leaves k as it is.
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
