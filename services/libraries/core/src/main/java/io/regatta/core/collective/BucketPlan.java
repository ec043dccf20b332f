package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DenseVariable;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan of which gradients are exchanged together. Immutable, any thread; a pure function of its inputs, so all
 * ranks have the same. It follows Li et al., "PyTorch distributed" (2020), section 3.2, with the sizes of
 * PaddlePaddle's {@code DataParallel}.
 *
 * <p>Backward yields the gradient of the last variable first, so buckets are filled from the end of the flat vector. A
 * bucket is full, and can be exchanged, as soon as it has at least {@code bucketBytes}. The gradients of the variables
 * declared first come last, when no computation is left to overlap with their exchange. They are a bucket of their own
 * of at most {@code lastBytes}. A bucket is a contiguous part of the flat vector, so gradients are not copied to be
 * together.
 *
 * @param buckets in the order in which they are full; together the flat vector, from its end to its beginning
 */
public record BucketPlan(List<Bucket> buckets) {

  /** Default of PaddlePaddle and PyTorch. */
  public static final int DEFAULT_BUCKET_BYTES = 25 << 20;
  /** Default of PaddlePaddle and PyTorch. */
  public static final int DEFAULT_LAST_BYTES = 1 << 20;

  /**
   * Gradients that are exchanged as one.
   *
   * @param variable the first of its variables, whose gradient comes last
   * @param from first element in the flat vector
   * @param to first element after it
   */
  public record Bucket(int variable, int from, int to) {

    /** Returns the number of elements. */
    public int size() {
      return to - from;
    }
  }

  public BucketPlan {
    buckets = List.copyOf(buckets);
  }

  /**
   * Returns the plan for these variables.
   *
   * @param variables in the order of the flat vector; at least one
   * @param bucketBytes at least 1; a variable is never cut, so buckets may be larger
   * @param lastBytes at least 0; 0 for no small bucket at the end
   */
  public static BucketPlan of(List<DenseVariable> variables, long bucketBytes, long lastBytes) {
    if (variables.isEmpty() || bucketBytes < 1 || lastBytes < 0) {
      throw new InvalidInput("buckets of " + bucketBytes + " bytes, the last of " + lastBytes + ", for " + variables.size()
          + " variables: there must be a variable to train, and room for it");
    }
    int inLast = 0;
    long bytes = 0;
    while (inLast < variables.size() && bytes + bytes(variables.get(inLast)) <= lastBytes) {
      bytes += bytes(variables.get(inLast++));
    }
    int to = variables.stream().mapToInt(DenseVariable::numel).sum();
    int from = to;
    List<Bucket> buckets = new ArrayList<>();
    for (int v = variables.size() - 1; v >= 0; v--) {
      from -= variables.get(v).numel();
      boolean full = (long) (to - from) * Float.BYTES >= bucketBytes && v >= inLast;
      if (full || v == inLast || v == 0) {
        buckets.add(new Bucket(v, from, to));
        to = from;
      }
    }
    return new BucketPlan(buckets);
  }

  private static long bytes(DenseVariable variable) {
    return (long) variable.numel() * Float.BYTES;
  }

  /** Returns the bucket that is full once this variable's gradient follows those of all later ones; null if none is. */
  public Bucket fullWith(int variable) {
    for (Bucket bucket : buckets) {
      if (bucket.variable() == variable) {
        return bucket;
      }
    }
    return null;
  }
}
