package io.regatta.training.rank;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The examples of a step: their number and their clicks, from the batch or from the program, and the number trained
 * before. Belongs to the model thread.
 */
final class StepExamples {

  private static final int NOT_GIVEN = -1;

  private boolean forwarded;
  /** Examples of the last forward pass's batch, and the program's number instead. */
  private long seen;
  private long given = NOT_GIVEN;
  /** Labels of the batch in forward, or null; and their clicks, once needed. */
  private NDList labels;
  private float[] clicks;
  private float[] clicksGiven;
  private long trained;

  /**
   * Notes the data of a forward pass.
   *
   * @param itsLabels null: the iteration may have them
   * @param iteration from which the data may come; null: none
   */
  void forward(NDList data, NDList itsLabels, LookAhead iteration) {
    forwarded = true;
    labels = itsLabels != null || iteration == null ? itsLabels : iteration.labels(data);
    clicks = null;
    long inBatch = iteration == null ? NOT_GIVEN : iteration.examples(data);
    seen = inBatch >= 0 ? inBatch : data.get(0).getShape().get(0);
  }

  /** Returns true if there has been a forward pass since the last step. */
  boolean isForwarded() {
    return forwarded;
  }

  /** Returns the labels of the batch in forward; null if they are not known. */
  NDList labels() {
    return labels;
  }

  /** Sets the number of examples of the next step. */
  void give(long count) {
    if (count < 0) {
      throw new InvalidInput("the number of examples must not be negative: " + count);
    }
    given = count;
  }

  /** Sets the clicks of the next step's examples. */
  void giveClicks(float[] ofExamples) {
    clicksGiven = ofExamples.clone();
  }

  /** Returns the step's weight in the mean over replicas and ranks. */
  long weight() {
    return given >= 0 ? given : seen;
  }

  /**
   * Returns the clicks of the examples in forward, one per example.
   *
   * @param table that counts them, for messages
   */
  float[] clicks(String table) {
    if (clicksGiven != null) {
      return clicksGiven;
    }
    if (clicks == null) {
      if (labels == null || labels.isEmpty()) {
        throw new InvalidInput("table " + table + " has statistics, but the labels of this batch are not known here: take "
            + "batches from trainer.iterateDataset, or call forward(data, labels), or trainer.setClicks before forward");
      }
      NDArray all = labels.get(0);
      NDArray first = all.getShape().dimension() == 2 && all.getShape().get(1) > 1 ? all.get(":, 0") : all;
      if (first.getDataType() == DataType.FLOAT32) {
        clicks = first.toFloatArray();
      } else {
        try (NDArray floats = first.toType(DataType.FLOAT32, true)) {
          clicks = floats.toFloatArray();
        }
      }
    }
    return clicks;
  }

  /** Counts a step; the program's numbers applied to this one only. */
  void stepped() {
    trained += weight();
    given = NOT_GIVEN;
    clicksGiven = null;
    forwarded = false;
  }

  /** Returns the examples of all steps so far. */
  long trained() {
    return trained;
  }
}
