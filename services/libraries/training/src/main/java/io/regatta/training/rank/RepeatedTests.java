package io.regatta.training.rank;

import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Dataset;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * A filter of repeated tests of {@code EasyTrain.fit}. Once {@code max_steps} are reached, fit's remaining passes train
 * nothing, but each would read its whole validation set for the same result. Belongs to the model thread.
 */
final class RepeatedTests {

  /**
   * Data sets that have been iterated over since the last step, other than for training; compared by identity. A
   * program that only evaluates makes no step, and this list must not keep its data in memory.
   */
  private final List<WeakReference<Dataset>> tested = new ArrayList<>();
  private boolean passTrainsNothing;

  /** Notes a step: tests have new results. */
  void stepped() {
    tested.clear();
  }

  /**
   * Notes that a pass over training data begins.
   *
   * @param enough true if all steps have been made
   */
  void passBegins(boolean enough) {
    passTrainsNothing = enough;
  }

  /**
   * Returns true if this data set need not be read again. Only {@code EasyTrain.fit} is skipped; a program's own loop
   * gets its data.
   */
  boolean isRepetition(Dataset dataset) {
    boolean again = tested.stream().anyMatch(each -> each.refersTo(dataset));
    if (!again) {
      tested.removeIf(each -> each.refersTo(null));
      tested.add(new WeakReference<>(dataset));
    }
    return again && passTrainsNothing && StackWalker.getInstance().walk(frames -> frames.anyMatch(frame ->
        frame.getClassName().equals(EasyTrain.class.getName()) && frame.getMethodName().equals("fit")));
  }
}
