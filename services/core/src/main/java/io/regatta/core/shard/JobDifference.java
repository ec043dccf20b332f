package io.regatta.core.shard;

import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Says in words where a trainer's idea of a job differs from the one that the shard has. */
final class JobDifference {

  /** Differences spelled out; more are counted. */
  private static final int SHOWN = 4;

  private final List<String> found = new ArrayList<>();

  private JobDifference() {}

  /** A phrase per difference, {@code here} being the shard's; empty if there is none. */
  static String describe(JobSpec here, JobSpec there) {
    JobDifference d = new JobDifference();
    d.compare("mode", here.mode(), there.mode());
    d.compare("number of trainers", here.trainers(), there.trainers());
    d.compare("number of shards", here.shards(), there.shards());
    d.compare("staleness bound", here.stalenessBound(), there.stalenessBound());
    d.compare("NaN policy", here.nanPolicy(), there.nanPolicy());
    d.compare("smallest dense block", here.minBlock(), there.minBlock());
    d.compareModels(here.model(), there.model());
    int more = d.found.size() - SHOWN;
    return String.join("; ", more > 0 ? d.found.subList(0, SHOWN) : d.found) + (more > 0 ? "; and " + more + " more" : "");
  }

  private void compareModels(ModelSpec here, ModelSpec there) {
    compare("seed", here.seed(), there.seed());
    compare("dense optimizer", here.denseOptimizer(), there.denseOptimizer());
    compare("number of dense variables", here.dense().size(), there.dense().size());
    for (int i = 0; i < Math.min(here.dense().size(), there.dense().size()); i++) {
      DenseVariable a = here.dense().get(i);
      DenseVariable b = there.dense().get(i);
      compare("name of dense variable " + i, a.name(), b.name());
      compare("shape of dense variable '" + a.name() + "'", a.shape(), b.shape());
    }
    compare("number of sparse tables", here.sparse().size(), there.sparse().size());
    for (int i = 0; i < Math.min(here.sparse().size(), there.sparse().size()); i++) {
      SparseTableSpec a = here.sparse().get(i);
      SparseTableSpec b = there.sparse().get(i);
      compare("name of sparse table " + i, a.name(), b.name());
      compare("row dimension of sparse table '" + a.name() + "'", a.dim(), b.dim());
      compare("initializer of sparse table '" + a.name() + "'", a.initializer(), b.initializer());
      compare("optimizer of sparse table '" + a.name() + "'", a.optimizer(), b.optimizer());
    }
  }

  private void compare(String what, Object here, Object there) {
    if (!Objects.equals(here, there)) {
      found.add(what + " is " + here + " on the shard and " + there + " in the trainer");
    }
  }
}
