package io.regatta.training.evaluation;

import ai.djl.training.dataset.Batch;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.feature.KeyColumn;
import io.regatta.training.dataset.BatchWithIds;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * The predictions of a batch, with the labels and ids of its examples. Valid as long as the batch is.
 *
 * @param scores of the examples, row by row, the same number for each; of a binary classifier the probability of the
 *     positive class
 * @param size number of examples
 * @param labels of the examples, row by row, {@code layout.labels()} for each; may be longer; NaN where one is missing
 * @param idAt the id at each position, row by row; {@link DistinctIds#PADDING} where there is none
 */
public record Predictions(float[] scores, int size, float[] labels, Layout layout, IntToLongFunction idAt) {

  /** Returns the predictions of a batch of a data set; examples of another kind of batch have no ids. */
  public static Predictions of(float[] scores, Batch batch, Layout layout) {
    float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
    int[] positions = batch instanceof BatchWithIds known ? known.positions() : new int[0];
    long[] ids = batch instanceof BatchWithIds known ? known.ids() : new long[0];
    return new Predictions(scores, Math.toIntExact(batch.getSize()), labels, layout,
        at -> at < positions.length && positions[at] >= 0 ? ids[positions[at]] : DistinctIds.PADDING);
  }

  /** Returns the predictions of a batch as a source has read it. */
  public static Predictions of(float[] scores, SlotBatch batch) {
    return new Predictions(scores, batch.rows(), batch.labels(), batch.layout(), at -> batch.ids()[at]);
  }

  /** Returns a score of an example. */
  float score(int example, int at) {
    return scores[example * (scores.length / size) + at];
  }

  /** Returns the index in {@link #scores} of a score of an example. */
  int scoreIndex(int example, int at) {
    return example * (scores.length / size) + at;
  }

  /** Returns a label of an example. */
  float label(int example, int at) {
    return labels[example * layout.labels() + at];
  }

  /** Returns true if a label or a key of an example is missing. */
  boolean isMissing(int example, int at) {
    return Float.isNaN(label(example, at));
  }

  /** Returns the hash of a key of an example. */
  long hash(int example, int at) {
    return KeyColumn.hash(labels, example * layout.labels() + at);
  }

  /** Returns the text of a key of an example; empty if it is missing. */
  String text(int example, int at) {
    return KeyColumn.text(labels, example * layout.labels() + at);
  }

  /** Returns the predictions of one example. */
  Predictions only(int example) {
    int width = scores.length / size;
    return new Predictions(Arrays.copyOfRange(scores, example * width, (example + 1) * width), 1,
        Arrays.copyOfRange(labels, example * layout.labels(), (example + 1) * layout.labels()), layout,
        at -> idAt.applyAsLong(example * layout.columns() + at));
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
