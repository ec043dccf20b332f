package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import java.util.List;

/** The {@code metrics} section of a job with declared labels: metrics beyond those that each label has. Immutable. */
public record MetricsConfig(
    @Setting(doc = "Column whose equal values are one group, such as a user: reports gauc, the AUC within groups, for binary labels. "
        + "Empty: off.")
    String gauc,

    @Setting(value = "10000000", unit = "examples", doc = "Most test examples, over all trainers, for which gauc and ndcg are computed: "
        + "with more they are left out, with a warning.")
    int groupLimit,

    @Setting(doc = "Columns whose values are slices of the test data, each with metrics of its own, as auc[device=phone].")
    List<String> slices,

    @Setting(value = "100", unit = "values", doc = "Most values of a column of slices: with more its slices are left out, with a warning.")
    int sliceLimit,

    @Setting(value = "5,10", doc = "Numbers k of ndcg@k, for labels of kind rank.")
    List<Integer> ndcg,

    @Setting(value = "10,50", doc = "Numbers k of recall@k, for model.kind: two_towers.")
    List<Integer> recall) {

  public MetricsConfig {
    slices = List.copyOf(slices);
    ndcg = List.copyOf(ndcg);
    recall = List.copyOf(recall);
    if (groupLimit < 1 || sliceLimit < 1) {
      throw new InvalidInput((groupLimit < 1 ? "group_limit" : "slice_limit") + " must be at least 1");
    }
    for (List<Integer> each : List.of(ndcg, recall)) {
      if (each.isEmpty() || each.stream().anyMatch(k -> k < 1)) {
        throw new InvalidInput("ndcg and recall need numbers k of at least 1, not " + each);
      }
    }
  }
}
