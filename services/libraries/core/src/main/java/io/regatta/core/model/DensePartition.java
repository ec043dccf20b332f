package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

/**
 * The partition of the dense variables over shards. Immutable; a pure function of its inputs, so every process computes
 * the same one. Each variable is cut into parts by the rule of Paddle's transpiler ({@code slice_variable}, which calls
 * them blocks). The parts are assigned to shards round robin, continuing across variables. The parts of one shard, in
 * the order of assignment, form that shard's contiguous vector: it is pushed, updated and pulled as one. If some shards
 * are for sparse rows only ({@link Sharding}), the parts go to the others, as if there were no more.
 *
 * <p>The rule of {@link #of}: a variable has at most {@code shards} parts of equal size (the last one shorter). None is below {@code
 * minBlock} elements unless the variable itself is. A variable of two or more dimensions is cut between rows only; a
 * row is everything after the first dimension.
 *
 * <p>The rule of {@link #whole}, for optimizers that need whole tensors: variables are not cut. From the largest to the
 * smallest, and in their order among equals, each goes to the shard that has the fewest elements so far (longest
 * processing time first: Graham, "Bounds on multiprocessing timing anomalies", 1969). A shard's vector has its variables
 * in the order of the model.
 */
public final class DensePartition {

  /**
   * One part of a variable.
   *
   * @param variable name
   * @param number number of the part within its variable
   * @param variableOffset first element within the variable
   * @param flatOffset first element within the flat dense vector
   * @param size elements
   * @param shard owner
   * @param shardOffset first element within the shard's vector
   */
  public record Part(String variable, int number, int variableOffset, int flatOffset, int size, int shard,
      int shardOffset) {

    /** Returns {@code name:blockN:size @ shard s [from..to)}: the place within the shard's vector, in elements. */
    public String describe() {
      return variable + ":block" + number + ":" + size + " @ shard " + shard
          + " [" + shardOffset + ".." + (shardOffset + size) + ")";
    }
  }

  /** Paddle's default: no part smaller than this many elements. */
  public static final int DEFAULT_MIN_BLOCK = 8192;

  private final int[] shardSizes;
  private final int numel;
  private final List<Part> parts;
  private final List<List<Part>> partsByShard;

  private DensePartition(int[] shardSizes, int numel, List<Part> parts, List<List<Part>> partsByShard) {
    this.shardSizes = shardSizes;
    this.numel = numel;
    this.parts = List.copyOf(parts);
    this.partsByShard = partsByShard.stream().map(List::copyOf).toList();
  }

  /**
   * Partitions variables over shards that all hold dense parts.
   *
   * @param variables in the order of the flat dense vector
   * @param shards number of shards, at least 1
   * @param minBlock smallest part, elements, at least 1
   */
  public static DensePartition of(List<DenseVariable> variables, int shards, int minBlock) {
    return of(variables, Sharding.common(shards), minBlock);
  }

  /**
   * Partitions variables over the shards that hold dense parts.
   *
   * @param variables in the order of the flat dense vector
   * @param sharding of at least 1 shard
   * @param minBlock smallest part, elements, at least 1
   */
  public static DensePartition of(List<DenseVariable> variables, Sharding sharding, int minBlock) {
    requireShards(sharding.shards());
    if (minBlock < 1) {
      throw new InvalidInput("min_block is " + minBlock + " elements: it must be at least 1");
    }
    return cut(variables, sharding, v -> partSize(v, sharding.denseShards(), minBlock),
        (v, number) -> number % sharding.denseShards());
  }

  /**
   * Partitions variables over the shards that hold dense parts, without cutting any.
   *
   * @param variables in the order of the flat dense vector
   * @param sharding of at least 1 shard
   */
  public static DensePartition whole(List<DenseVariable> variables, Sharding sharding) {
    requireShards(sharding.shards());
    long[] sizes = new long[sharding.denseShards()];
    Map<DenseVariable, Integer> owners = new HashMap<>();
    variables.stream().sorted(Comparator.comparingInt(DenseVariable::numel).reversed()).forEach(v -> {
      int least = 0;
      for (int s = 1; s < sizes.length; s++) {
        least = sizes[s] < sizes[least] ? s : least;
      }
      sizes[least] += v.numel();
      owners.put(v, least);
    });
    return cut(variables, sharding, DenseVariable::numel, (v, number) -> owners.get(v));
  }

  /**
   * Cuts variables into parts.
   *
   * @param partSize number of elements per part of a variable
   * @param owner from a variable and the number of a part, over all variables, to which of the shards with dense parts it
   *     belongs
   */
  private static DensePartition cut(List<DenseVariable> variables, Sharding sharding, ToIntFunction<DenseVariable> partSize,
      ToIntBiFunction<DenseVariable, Integer> owner) {
    List<Part> parts = new ArrayList<>();
    List<List<Part>> byShard = new ArrayList<>();
    for (int s = 0; s < sharding.shards(); s++) {
      byShard.add(new ArrayList<>());
    }
    int[] sizes = new int[sharding.shards()];
    int flatOffset = 0;
    for (DenseVariable v : variables) {
      int numel = v.numel();
      int most = partSize.applyAsInt(v);
      for (int from = 0, id = 0; from < numel; from += most, id++) {
        int size = Math.min(most, numel - from);
        int shard = sharding.denseShard(owner.applyAsInt(v, parts.size()));
        Part part = new Part(v.name(), id, from, flatOffset + from, size, shard, sizes[shard]);
        parts.add(part);
        byShard.get(shard).add(part);
        sizes[shard] += size;
        if (numel - from <= most) {
          break; // from + most could pass 2^31
        }
      }
      flatOffset = Math.addExact(flatOffset, numel);
    }
    return new DensePartition(sizes, flatOffset, parts, byShard);
  }

  /** Returns the number of elements per part of one variable (the last part may have fewer). */
  private static int partSize(DenseVariable v, int shards, int minBlock) {
    int numel = v.numel();
    int split = Math.min(shards, Math.max(1, numel / minBlock));
    long size = ceilDiv(numel, split);
    if (v.shape().size() >= 2) {
      int row = numel / v.shape().get(0);
      size = ceilDiv(size, row) * row;
    }
    return (int) size; // ≤ numel, because numel is a whole number of rows
  }

  private static long ceilDiv(long a, long b) {
    return (a + b - 1) / b;
  }

  public int shards() {
    return shardSizes.length;
  }

  /** Returns the number of elements of the flat dense vector. */
  public int numel() {
    return numel;
  }

  /** Returns all parts in the order of assignment. */
  public List<Part> parts() {
    return parts;
  }

  /** Returns the parts of one shard in the order of its vector. */
  public List<Part> partsOf(int shard) {
    return partsByShard.get(shard);
  }

  /** Returns the length of a shard's vector; 0 is ordinary. */
  public int sizeOf(int shard) {
    return shardSizes[shard];
  }

  /** Returns the shard's vector, gathered out of the flat dense vector into a new array. */
  public float[] slice(float[] flat, int shard) {
    requireLength("flat dense vector", flat.length, numel);
    float[] shardVector = new float[shardSizes[shard]];
    for (Part b : partsByShard.get(shard)) {
      System.arraycopy(flat, b.flatOffset(), shardVector, b.shardOffset(), b.size());
    }
    return shardVector;
  }

  /** Writes a shard's vector back into its places of the flat dense vector. */
  public void merge(float[] shardVector, int shard, float[] flat) {
    requireLength("vector of shard " + shard, shardVector.length, shardSizes[shard]);
    requireLength("flat dense vector", flat.length, numel);
    for (Part b : partsByShard.get(shard)) {
      System.arraycopy(shardVector, b.shardOffset(), flat, b.flatOffset(), b.size());
    }
  }

  /** Returns one line per part, in the order of assignment: {@link Part#describe}. */
  public List<String> describe() {
    return parts.stream().map(Part::describe).toList();
  }

  private static void requireLength(String what, int actual, int expected) {
    if (actual != expected) {
      throw new InvalidInput("the " + what + " has " + actual + " elements, the model's partition says " + expected
          + ": use the same variables, shards and min_block on both sides");
    }
  }

  static void requireShards(int shards) {
    if (shards < 1) {
      throw new InvalidInput("the number of shards is " + shards + ": it must be at least 1");
    }
  }
}
