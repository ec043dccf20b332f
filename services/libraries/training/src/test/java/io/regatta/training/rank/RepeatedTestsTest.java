package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.Progress;
import java.lang.ref.WeakReference;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatedTestsTest {

  private static WeakReference<Dataset> tested(RepeatedTests tests) {
    Dataset dataset = new Dataset() {
      @Override
      public Iterable<Batch> getData(NDManager manager) {
        return List.of();
      }

      @Override
      public void prepare(Progress progress) {}
    };
    tests.isRepetition(dataset);
    return new WeakReference<>(dataset);
  }

  /** A program that loads a model and evaluates it on one file after the other makes no step. */
  @Test
  void when_data_sets_are_evaluated_and_no_step_is_made_then_they_are_not_kept() {
    RepeatedTests tests = new RepeatedTests();
    WeakReference<Dataset> dataset = tested(tests);
    for (int i = 0; i < 50 && !dataset.refersTo(null); i++) {
      System.gc();
    }
    assertThat(dataset.refersTo(null)).isTrue();
  }
}
