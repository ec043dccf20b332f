package io.regatta.program;

import ai.djl.nn.Block;
import io.regatta.core.feature.FeatureField;
import io.regatta.data.Layout;
import io.regatta.program.block.TabularBlock;
import io.regatta.program.label.LabelHeads;
import io.regatta.program.label.OutputHead;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.feature.DeclaredLabels;
import java.util.List;

/** The networks of jobs that declare features, and the heads of their labels. Stateless. */
final class TabularNetworks {

  private TabularNetworks() {}

  /**
   * Returns the network of a model.
   *
   * @param layout widths of an example
   * @param fields of an example, whose ids have the slots of the layout
   */
  static Block network(ModelConfig model, Layout layout, List<FeatureField> fields, DeclaredLabels labels) {
    return new TabularBlock(layout, model, labels.outputs());
  }

  /** Returns the head of a job's labels. */
  static OutputHead head(DeclaredLabels labels) {
    return new LabelHeads(labels);
  }
}
