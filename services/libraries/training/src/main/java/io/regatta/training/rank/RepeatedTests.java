package io.regatta.training.rank;

import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Dataset;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Tests of {@code EasyTrain.fit} that could only say again what the last one said: once {@code max_steps} are reached,
 * fit's remaining passes train nothing, and each of them would read its whole validation set. Belongs to the model
 * thread.
 */
final class RepeatedTests {

  /**
   * Data sets that have been iterated over since the last step, other than to train; compared by identity. A program
   * that only evaluates makes no step, and this alone must not keep its data in memory.
   */
  private final List<WeakReference<Dataset>> tested = new ArrayList<>();
  private boolean passTrainsNothing;

  /** A step has been made: tests say something new. */
  void stepped() {
    tested.clear();
  }

  /**
   * A pass over training data begins.
   *
   * @param enough whether all steps have been made
   */
  void passBegins(boolean enough) {
    passTrainsNothing = enough;
  }

  /** Returns true if nothing of this data set needs to be read. A program that asks by itself gets its data. */
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
