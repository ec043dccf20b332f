package io.regatta.training.evaluation;

import ai.djl.training.dataset.Batch;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.training.dataset.BatchWithIds;
import java.util.function.IntToLongFunction;

/**
 * The predictions of a batch, with the labels and ids of its examples. Valid as long as the batch is.
 *
 * @param probabilities of the positive class, one per example
 * @param labels 0 or 1, one per example; may be longer
 * @param idAt the id at each position, row by row; {@link DistinctIds#PADDING} where there is none
 */
public record Predictions(float[] probabilities, float[] labels, Layout layout, IntToLongFunction idAt) {

  /** Returns the predictions of a batch of a data set; examples of another kind of batch have no ids. */
  public static Predictions of(float[] probabilities, Batch batch, Layout layout) {
    float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
    int[] positions = batch instanceof BatchWithIds known ? known.positions() : new int[0];
    long[] ids = batch instanceof BatchWithIds known ? known.ids() : new long[0];
    return new Predictions(probabilities, labels, layout,
        at -> at < positions.length && positions[at] >= 0 ? ids[positions[at]] : DistinctIds.PADDING);
  }

  /** Returns the predictions of a batch as a source has read it. */
  public static Predictions of(float[] probabilities, SlotBatch batch) {
    return new Predictions(probabilities, batch.labels(), batch.layout(), at -> batch.ids()[at]);
  }

  /** Returns the number of examples. */
  int size() {
    return probabilities.length;
  }

  /** Returns the first id of a slot of an example; {@link DistinctIds#PADDING} if the slot holds no value. */
  long firstId(int example, int slot) {
    int offset = 0;
    for (int before = 0; before < slot; before++) {
      offset += layout.widths().get(before);
    }
    long id = idAt.applyAsLong(example * layout.columns() + offset);
    return !layout.emptyIds().isEmpty() && layout.emptyIds().get(slot) == id ? DistinctIds.PADDING : id;
  }
}
