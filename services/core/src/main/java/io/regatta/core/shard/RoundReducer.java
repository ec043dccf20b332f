package io.regatta.core.shard;

import java.util.List;

/**
 * Merges pushes of several contributors into one: the weighted mean, summed in the order of each push's lowest rank,
 * so the result does not depend on the order of arrival. With a single push, or a single one of non-zero weight, the
 * result is that push bit for bit. Used by the shard (sync rounds), by the aggregator and by a trainer's replicas.
 *
 * <p>Rule: g = Σ_r (w_r / W) · g_r in rank order, W = Σ w_r; a sparse id that a push does not hold contributes zero.
 * With equal batches this is Paddle's transpiler rule: sum, then times 1 / trainers.
 */
public final class RoundReducer {

  private RoundReducer() {}

  /** The merged push: contributors united in rank order, step of the first, lowest version; W = 0 gives an empty one. */
  public static Push merge(List<Push> pushes) {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
