package io.regatta.program.label;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.loss.Loss;
import io.regatta.core.retrieval.ItemFrequencies;
import io.regatta.data.feature.KeyColumn;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The head of two towers, whose outputs are the vectors of users and items, {@code [batch, 2 × width]}. The loss is the
 * softmax cross entropy of each user's item among all items of the batch, weighted by the label (Yi et al., RecSys 2019).
 * The logarithm of an item's estimated frequency is subtracted from its logits, as frequent items are in more batches. The
 * scores are the cosine of both and the vectors, or the vectors alone. One owner, the model thread: its frequencies are those of the batches that
 * its loss has seen.
 */
public final class RetrievalHead implements OutputHead {

  private final int itemAt;
  private final double temperature;
  private final double frequencyRate;
  private final int width;
  private final boolean vectors;

  /**
   * Creates a head.
   *
   * @param itemAt place of the item's hash among the floats of an example's labels, the first of which is the label
   * @param temperature divides the cosines
   * @param frequencyRate weight of the newest distance, see {@link ItemFrequencies}; 0: no correction
   * @param width floats of a vector
   * @param vectors true if the scores are the vectors alone
   */
  public RetrievalHead(int itemAt, double temperature, double frequencyRate, int width, boolean vectors) {
    this.itemAt = itemAt;
    this.temperature = temperature;
    this.frequencyRate = frequencyRate;
    this.width = width;
    this.vectors = vectors;
  }

  @Override
  public Loss loss(String name) {
    ItemFrequencies frequencies = frequencyRate == 0 ? null : new ItemFrequencies(frequencyRate);
    return new Loss(name) {
      @Override
      public NDArray evaluate(NDList given, NDList predictions) {
        return lossOf(given.singletonOrThrow(), predictions.singletonOrThrow(), frequencies);
      }
    };
  }

  private NDArray lossOf(NDArray given, NDArray outputs, ItemFrequencies frequencies) {
    float[] labels = given.toFloatArray();
    int rows = Math.toIntExact(given.getShape().get(0));
    int each = labels.length / rows;
    long[] items = new long[rows];
    float[] own = new float[rows * rows];
    for (int i = 0; i < rows; i++) {
      items[i] = KeyColumn.isMissing(labels, i * each + itemAt) ? 0 : KeyColumn.hash(labels, i * each + itemAt);
      own[i * rows + i] = Float.isNaN(labels[i * each]) ? 0 : labels[i * each] / rows;
    }
    NDArray logits = outputs.get(":, 0:" + width).dot(outputs.get(":, " + width + ":").transpose()).mul((float) (1 / temperature));
    if (frequencies != null) {
      frequencies.add(items);
      float[] corrections = new float[rows];
      for (int i = 0; i < rows; i++) {
        corrections[i] = (float) Math.log(frequencies.probability(items[i]));
      }
      logits = logits.sub(outputs.getManager().create(corrections, new Shape(1, rows)));
    }
    return logits.logSoftmax(1).mul(outputs.getManager().create(own, new Shape(rows, rows))).sum().neg();
  }

  @Override
  public List<String> names() {
    List<String> names = new ArrayList<>(List.of("score"));
    for (String tower : vectors ? List.<String>of() : List.of("user", "item")) {
      IntStream.range(0, width).forEach(d -> names.add(tower + "=" + d));
    }
    return names;
  }

  @Override
  public float[] scores(NDArray outputs) {
    float[] values = outputs.toFloatArray();
    if (vectors) {
      return values;
    }
    int both = (int) outputs.getShape().get(1);
    float[] scores = new float[values.length / both * (1 + both)];
    for (int from = 0, to = 0; from < values.length; from += both, to += 1 + both) {
      for (int d = 0; d < both / 2; d++) {
        scores[to] += values[from + d] * values[from + both / 2 + d];
      }
      System.arraycopy(values, from, scores, to + 1, both);
    }
    return scores;
  }

  @Override
  public boolean isBinary() {
    return false;
  }
}
