package io.regatta.core.model;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * All that lives on servers for one job: the dense variables, in the order that lays out the flat dense vector, and
 * the sparse tables. Every trainer of a job registers the same one; {@link #digest} is how a shard sees that.
 * Names are unique over variables and tables together, since files and logs know both by name only.
 *
 * @param seed of the sparse initializers
 * @param dense variables in flat order
 * @param denseOptimizer update rule of all dense variables
 * @param sparse sparse tables
 */
public record ModelSpec(long seed, List<DenseVariable> dense, OptimizerSpec denseOptimizer,
    List<SparseTableSpec> sparse) {

  /** Model without parameters. */
  public static final ModelSpec NONE = new ModelSpec(0, List.of(), OptimizerSpec.sgd(0), List.of());

  public ModelSpec {
    dense = List.copyOf(dense);
    sparse = List.copyOf(sparse);
    Objects.requireNonNull(denseOptimizer, "denseOptimizer");
    Set<String> names = new HashSet<>();
    long numel = 0;
    for (DenseVariable v : dense) {
      requireUnique(names, v.name());
      numel += v.numel();
    }
    if (numel > Integer.MAX_VALUE) {
      throw new InvalidInput("the model has " + numel
          + " dense elements: more than 2^31-1 do not fit; make the largest variables sparse tables");
    }
    for (SparseTableSpec t : sparse) {
      requireUnique(names, t.name());
    }
  }

  /** Returns the same model without what its optimizers, initializers and lives do not use. */
  public ModelSpec used() {
    return new ModelSpec(seed, dense, dense.isEmpty() ? OptimizerSpec.sgd(0) : denseOptimizer.used(),
        sparse.stream().map(SparseTableSpec::used).toList());
  }

  /** Returns true if {@link #used} of both models is equal. */
  public boolean isUsedAs(ModelSpec other) {
    if (seed != other.seed || !dense.equals(other.dense) || sparse.size() != other.sparse.size()
        || !dense.isEmpty() && !denseOptimizer.used().equals(other.denseOptimizer.used())) {
      return false;
    }
    for (int i = 0; i < sparse.size(); i++) {
      SparseTableSpec mine = sparse.get(i);
      SparseTableSpec theirs = other.sparse.get(i);
      if (!mine.equals(theirs) && !mine.used().equals(theirs.used())) {
        return false;
      }
    }
    return true;
  }

  /** Elements of the flat dense vector: all variables one after another. */
  public int denseNumel() {
    int n = 0;
    for (DenseVariable v : dense) {
      n += v.numel();
    }
    return n;
  }

  /** A short stable fingerprint (hex) of names, shapes, dims, initializers, optimizers and seed. */
  public String digest() {
    return ModelDigest.of(this);
  }

  static void requireName(String what, String name) {
    if (name == null || name.isBlank()) {
      throw new InvalidInput("a " + what + " has no name: name it, the same on every rank");
    }
    PeerText.requireVisible(what, name);
  }

  private static void requireUnique(Set<String> names, String name) {
    if (!names.add(name)) {
      throw new InvalidInput("two dense variables or sparse tables of the model are called " + name
          + ": names must be unique");
    }
  }
}
