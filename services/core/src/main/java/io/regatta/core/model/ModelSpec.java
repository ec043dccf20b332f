package io.regatta.core.model;

import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * All that lives on servers for one job: the dense variables, in the order that lays out the flat dense vector, and
 * the sparse tables. Every trainer of a job registers the same one; {@link #digest} is how a shard sees that.
 *
 * @param seed of the sparse initializers
 * @param dense variables in flat order
 * @param denseOptimizer update rule of all dense variables
 * @param sparse sparse tables
 */
public record ModelSpec(long seed, List<DenseVariable> dense, OptimizerSpec denseOptimizer,
    List<SparseTableSpec> sparse) {

  public ModelSpec {
    dense = List.copyOf(dense);
    sparse = List.copyOf(sparse);
    Set<String> names = new HashSet<>();
    dense.forEach(v -> unique(names, v.name()));
    sparse.forEach(t -> unique(names, t.name()));
  }

  private static void unique(Set<String> names, String name) {
    if (!names.add(name)) {
      throw new InvalidInput("two parameters or tables of the model are called '" + name
          + "'; names must be unique within a job");
    }
  }

  /** Elements of the flat dense vector: all variables one after another. */
  public int denseNumel() {
    int n = 0;
    for (DenseVariable v : dense) {
      n = Math.addExact(n, v.numel());
    }
    return n;
  }

  /** A short stable fingerprint (hex) of names, shapes, dims, initializers, optimizers and seed. */
  public String digest() {
    // toString of records is specified by their components alone: names, shapes, dims and rates, in order.
    byte[] canonical = toString().getBytes(StandardCharsets.UTF_8);
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(canonical);
      return HexFormat.of().formatHex(hash, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
