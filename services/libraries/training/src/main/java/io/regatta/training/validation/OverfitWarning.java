package io.regatta.training.validation;

import io.regatta.core.metrics.AucGap;
import io.regatta.training.Worker;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The warning that the AUC of the training rows and that of held-out rows have parted ({@link AucGap}), once per run.
 * One per replica, on its model thread.
 */
public final class OverfitWarning {

  private static final Logger LOG = LoggerFactory.getLogger(OverfitWarning.class);
  private static final String AUC = "auc";

  private final Worker worker;
  private boolean given;

  public OverfitWarning(Worker worker) {
    this.worker = worker;
  }

  /**
   * Compares the AUC of a pass with that of held-out rows, if both are known.
   *
   * @param when for the message, such as {@code after epoch 2}
   * @param heldOutName such as {@code validation}
   */
  public void compare(String when, Map<String, Double> train, String heldOutName, Measured heldOut) {
    double training = train.getOrDefault(AUC, Double.NaN);
    double other = heldOut.metrics().getOrDefault(AUC, Double.NaN);
    if (given || !AucGap.isOverfit(training, other, heldOut.positives(), heldOut.negatives())) {
      return;
    }
    given = true;
    if (worker.isFirstWorker()) {
      LOG.warn(String.format(Locale.ROOT, "job %s overfits %s: AUC is %.4f on training rows and %.4f on %s rows; the difference of %.4f is "
          + "more than %.2f + %.0f standard errors of %.4f. Set early_stopping, l2 or dropout in the section model, or min_count of ids; "
          + "or train for fewer passes", worker.job().job(), when, training, other, heldOutName, training - other, AucGap.LEAST,
          AucGap.ERRORS, AucGap.standardError(other, heldOut.positives(), heldOut.negatives())));
    }
  }
}
