package io.regatta.training.dataset;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.util.Iterator;

/** A batch without an example in the middle of others, as of a file whose bad lines are skipped. */
public final class EmptyBatch {

  private EmptyBatch() {}

  /** Returns a data set with one more batch, at this place from 0. */
  public static Dataset within(Dataset others, int place) {
    return new Dataset() {
      @Override
      public Iterable<Batch> getData(NDManager manager) throws IOException, TranslateException {
        Iterator<Batch> left = others.getData(manager).iterator();
        return () -> new Iterator<>() {
          private int taken;

          @Override
          public boolean hasNext() {
            return taken == place || left.hasNext();
          }

          @Override
          public Batch next() {
            return taken++ == place ? BatchWithIds.empty(manager.newSubManager(), place, place, null) : left.next();
          }
        };
      }

      @Override
      public void prepare(Progress progress) throws IOException, TranslateException {
        others.prepare(progress);
      }
    };
  }
}
