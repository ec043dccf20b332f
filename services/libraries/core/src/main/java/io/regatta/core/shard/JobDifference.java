package io.regatta.core.shard;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A comparison of a trainer's specification of a job with the shard's, which describes the differences in words. It
 * names the keys of the job's file where there are such.
 */
final class JobDifference {

  /** Differences spelled out; more are counted. */
  private static final int SHOWN = 3;

  private final int rank;
  /** A set: tables that take their optimizer from one section differ alike. */
  private final Set<String> found = new LinkedHashSet<>();

  private JobDifference(int rank) {
    this.rank = rank;
  }

  /** A phrase per difference, first the shard's value, then this rank's; empty if there is none. */
  static String describe(JobSpec shards, JobSpec trainers, int rank) {
    JobSpec here = shards.used(); // what nobody uses may differ
    JobSpec there = trainers.used();
    JobDifference d = new JobDifference(rank);
    d.compare("mode", here.mode(), there.mode());
    d.compare("trainers", here.trainers(), there.trainers());
    d.compare("number of shards", here.shards(), there.shards());
    d.compare("sparse_shards", here.sharding().sparsePerServer(), there.sharding().sparsePerServer());
    if (here.sharding().isApart() && there.sharding().isApart()) {
      d.compare("number of shards of a server", here.sharding().perServer(), there.sharding().perServer());
    }
    d.compare("staleness_bound", here.stalenessBound(), there.stalenessBound());
    d.compare("nan_policy", here.nanPolicy(), there.nanPolicy());
    if (!here.model().denseOptimizer().needsWholeTensors() && !there.model().denseOptimizer().needsWholeTensors()) {
      d.compare("min_block", here.minBlock(), there.minBlock());
    }
    d.compareModels(here.model(), there.model());
    List<String> all = new ArrayList<>(d.found);
    int more = all.size() - SHOWN;
    return String.join("; ", more > 0 ? all.subList(0, SHOWN) : all) + (more > 0 ? "; and " + more + " more" : "");
  }

  private void compareModels(ModelSpec here, ModelSpec there) {
    compare("seed", here.seed(), there.seed());
    compareOptimizers("optimizer", here.denseOptimizer(), there.denseOptimizer());
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
      for (RecordComponent c : TableLife.class.getRecordComponents()) {
        compare(key(c) + " of sparse table '" + a.name() + "'", value(c, a.life()), value(c, b.life()));
      }
      boolean asDense = a.optimizer().equals(here.denseOptimizer()) && b.optimizer().equals(there.denseOptimizer());
      compareOptimizers(asDense ? "optimizer" : "sparse_optimizer", a.optimizer(), b.optimizer());
    }
  }

  /** Compares two optimizers. If their rules differ, the other keys mean nothing and are not compared. */
  private void compareOptimizers(String section, OptimizerSpec here, OptimizerSpec there) {
    if (!here.name().equals(there.name())) {
      compare(section + ".kind", here.name(), there.name());
      return;
    }
    for (RecordComponent r : LearningRate.class.getRecordComponents()) {
      compare(section + (r.getName().equals("base") ? ".learning_rate" : ".schedule." + key(r)),
          value(r, here.learningRate()), value(r, there.learningRate()));
    }
    Map<String, Object> others = there.hyperparameters();
    here.hyperparameters().forEach((key, value) -> compare(section + "." + key, value, others.get(key)));
    compare(section + ".weight_decay", here.weightDecay(), there.weightDecay());
    compare(section + ".clip_value", here.clipValue(), there.clipValue());
    compare(section + ".clip_norm", here.clipNorm(), there.clipNorm());
  }

  private static String key(RecordComponent c) {
    return c.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  private static Object value(RecordComponent c, Record of) {
    try {
      return c.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a public record's accessor " + c.getName() + " cannot be called", e);
    }
  }

  private void compare(String what, Object here, Object there) {
    if (!Objects.equals(here, there)) {
      found.add(what + " is " + text(here) + " on the shard and " + text(there) + " in trainer " + rank);
    }
  }

  private static String text(Object value) {
    return value instanceof Enum<?> e ? e.name().toLowerCase(Locale.ROOT) : value.toString();
  }
}
