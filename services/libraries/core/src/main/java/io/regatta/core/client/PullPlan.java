package io.regatta.core.client;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparseTableSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan of one pull of a {@link ParameterClient}: it cuts the pull for the shards, and assembles their answers.
 * Immutable after construction.
 */
final class PullPlan {

  private final JobSpec job;
  private final DensePartition partition;
  private final GradientCheck model;
  private final DenseMemory into;
  private final boolean changed;
  private final boolean readOnly;
  private final List<SparseSlices> slices = new ArrayList<>();

  PullPlan(JobSpec job, DensePartition partition, GradientCheck model, DenseMemory into,
      List<SparseIds> sparse, boolean changed, boolean readOnly) {
    this.job = job;
    this.partition = partition;
    this.model = model;
    this.into = into;
    this.changed = changed;
    this.readOnly = readOnly;
    if (into != null) {
      model.shapes(into, List.of(), "memory for a pull");
    }
    for (SparseIds s : sparse) {
      model.table(s.table());
      slices.add(new SparseSlices(s.table(), s.ids(), job.sharding()));
    }
  }

  Pull of(int shard, int rank, long minStep) {
    List<SparseIds> sparse = new ArrayList<>(slices.size());
    for (SparseSlices s : slices) {
      sparse.add(new SparseIds(s.table, s.ids[shard]));
    }
    return new Pull(rank, minStep, into != null, into == null ? null : into.slice(partition, shard), sparse, changed,
        readOnly);
  }

  ParameterClient.Values assemble(List<Pulled> answers) {
    long[] versions = new long[answers.size()];
    for (int shard = 0; shard < answers.size(); shard++) {
      Pulled p = answers.get(shard);
      versions[shard] = p.version();
      if (into != null) {
        expect(shard, "dense elements", p.dense() == null ? 0 : p.dense().size(), partition.sizeOf(shard));
      }
    }
    List<SparseRows> sparse = new ArrayList<>();
    for (int i = 0; i < slices.size(); i++) {
      sparse.add(rows(answers, i));
    }
    if (changed) {
      for (SparseTableSpec t : job.model().sparse()) {
        uniteChanged(t, answers, sparse);
      }
    }
    return new ParameterClient.Values(versions, into == null ? null : into.array(), sparse,
        answers.stream().mapToLong(Pulled::clockLead).max().orElse(0));
  }

  /** Returns the rows of the i-th request. */
  private SparseRows rows(List<Pulled> answers, int i) {
    SparseSlices s = slices.get(i);
    int dim = model.table(s.table).dim();
    List<float[]> parts = new ArrayList<>(answers.size());
    for (int shard = 0; shard < answers.size(); shard++) {
      float[] part = answers.get(shard).sparse().get(i).values();
      expect(shard, "values of table '" + s.table + "'", part.length, s.ids[shard].length * dim);
      parts.add(part);
    }
    return new SparseRows(s.table, s.all, s.scatter(parts, dim));
  }

  private void uniteChanged(SparseTableSpec table, List<Pulled> answers, List<SparseRows> out) {
    List<SparseRows> parts = new ArrayList<>();
    int rows = 0;
    for (Pulled p : answers) {
      for (SparseRows r : p.sparse().subList(slices.size(), p.sparse().size())) {
        if (r.table().equals(table.name())) {
          parts.add(r);
          rows += r.ids().length;
        }
      }
    }
    if (rows == 0) {
      return;
    }
    long[] ids = new long[rows];
    float[] values = new float[Math.multiplyExact(rows, table.dim())];
    int at = 0;
    for (SparseRows r : parts) {
      System.arraycopy(r.ids(), 0, ids, at, r.ids().length);
      System.arraycopy(r.values(), 0, values, at * table.dim(), r.values().length);
      at += r.ids().length;
    }
    out.add(new SparseRows(table.name(), ids, values));
  }

  private void expect(int shard, String what, int got, int wanted) {
    if (got != wanted) {
      throw new InvalidInput("shard " + shard + " of job " + job.job() + " answered a pull with " + got + " " + what
          + " instead of " + wanted + ": run the same version in all processes");
    }
  }
}
