package io.regatta.training.rank;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * What a step knows of its examples: how many they are, and their clicks, as its batch says or the program; and how many have been
 * trained before. Belongs to the model thread.
 */
final class StepExamples {

  private static final int NOT_GIVEN = -1;

  private boolean forwarded;
  /** Of the last forward pass's batch, and what the program says instead. */
  private long seen;
  private long given = NOT_GIVEN;
  /** Of the batch in forward, or null; and what they say of clicks, once somebody asks. */
  private NDList labels;
  private float[] clicks;
  private float[] clicksGiven;
  private long trained;

  /**
   * A forward pass begins.
   *
   * @param itsLabels null: perhaps known to the iteration
   * @param iteration that the data may come out of; null: none
   */
  void forward(NDList data, NDList itsLabels, LookAhead iteration) {
    forwarded = true;
    labels = itsLabels != null || iteration == null ? itsLabels : iteration.labels(data);
    clicks = null;
    long inBatch = iteration == null ? NOT_GIVEN : iteration.examples(data);
    seen = inBatch >= 0 ? inBatch : data.get(0).getShape().get(0);
  }

  /** Whether there has been a forward pass since the last step. */
  boolean isForwarded() {
    return forwarded;
  }

  /** The program says how many examples the next step has. */
  void give(long count) {
    if (count < 0) {
      throw new InvalidInput("the number of examples must not be negative: " + count);
    }
    given = count;
  }

  /** The program says the clicks of the next step's examples. */
  void giveClicks(float[] ofExamples) {
    clicksGiven = ofExamples.clone();
  }

  /** The step's weight in the mean over replicas and ranks. */
  long weight() {
    return given >= 0 ? given : seen;
  }

  /**
   * Clicks of the examples in forward, one of each.
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
      NDArray first = labels.get(0);
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

  /** The step has been made; what the program has said was of this one. */
  void stepped() {
    trained += weight();
    given = NOT_GIVEN;
    clicksGiven = null;
    forwarded = false;
  }

  /** Examples of all steps so far. */
  long trained() {
    return trained;
  }
}
