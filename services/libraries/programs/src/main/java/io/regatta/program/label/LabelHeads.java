package io.regatta.program.label;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.loss.Loss;
import io.regatta.data.feature.KeyColumn;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.feature.DeclaredLabels;
import io.regatta.training.feature.DeclaredLabels.Label;
import java.util.List;

/**
 * The heads of declared labels, side by side. The loss is the weighted sum of the labels' losses; each is the mean over
 * the examples of a batch, in which an example whose label is missing counts 0. So a batch of several ranks together has
 * the same loss as theirs, weighted by their numbers of examples. Stateless; used on the model thread.
 */
public final class LabelHeads implements OutputHead {

  private final List<Label> labels;
  private final List<String> names;
  private final int groupAt;

  /** @param declared labels of the job */
  public LabelHeads(DeclaredLabels declared) {
    labels = List.copyOf(declared.labels());
    names = declared.outputNames();
    groupAt = declared.groupAt().orElse(-1);
  }

  @Override
  public List<String> names() {
    return names;
  }

  @Override
  public boolean isBinary() {
    return labels.get(0).config().kind() == LabelConfig.Kind.BINARY;
  }

  @Override
  public Loss loss(String name) {
    return new Loss(name) {
      @Override
      public NDArray evaluate(NDList given, NDList predictions) {
        NDArray sum = null;
        for (Label label : labels) {
          NDArray loss = lossOf(label, given.singletonOrThrow(), predictions.singletonOrThrow());
          loss = label.config().weight() == 1 ? loss : loss.mul((float) label.config().weight());
          sum = sum == null ? loss : sum.add(loss);
        }
        return sum;
      }
    };
  }

  private NDArray lossOf(Label label, NDArray given, NDArray predictions) {
    NDArray outputs = names.size() == 1 ? predictions
        : predictions.get(":, " + label.scoresAt() + ":" + (label.scoresAt() + label.outputs()));
    if (label.config().kind() == LabelConfig.Kind.RANK) {
      return ranking(label, given, outputs);
    }
    NDArray values = given.get(":, " + label.at());
    LabelHead head = LabelHead.of(label.config());
    if (label.config().missing() == LabelConfig.Missing.REFUSE) {
      return head.losses(values, outputs, label.config()).mean();
    }
    NDArray known = values.eq(values); // NaN is not equal to itself
    NDArray losses = head.losses(NDArrays.where(known, values, values.zerosLike()), outputs, label.config());
    return losses.mul(known.toType(DataType.FLOAT32, false)).mean();
  }

  private NDArray ranking(Label label, NDArray given, NDArray outputs) {
    float[] all = given.toFloatArray();
    int width = all.length / (int) given.getShape().get(0);
    long[] groups = new long[all.length / width];
    float[] relevance = new float[groups.length];
    for (int i = 0; i < groups.length; i++) {
      int at = i * width;
      boolean alone = KeyColumn.isMissing(all, at + groupAt);
      groups[i] = alone ? 0 : KeyColumn.hash(all, at + groupAt);
      relevance[i] = alone ? Float.NaN : all[at + label.at()];
    }
    RankingLoss loss = label.config().loss() == LabelConfig.Loss.LISTWISE ? RankingLoss.LISTWISE : RankingLoss.PAIRWISE;
    return loss.loss(groups, relevance, outputs);
  }

  @Override
  public float[] scores(NDArray outputs) {
    float[] values = outputs.toFloatArray();
    int width = names.size();
    for (int at = 0; at < values.length; at += width) {
      for (Label label : labels) {
        LabelHead head = LabelHead.of(label.config());
        if (head != null) {
          head.scores(values, at + label.scoresAt(), label.outputs(), label.config());
        }
      }
    }
    return values;
  }
}
