package io.regatta.heterworker.dense;

import io.regatta.core.client.GeoState;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.model.DensePartition;
import java.util.Collections;
import java.util.List;

/**
 * The local dense values of one trainer in a mode that pushes differences. This worker makes the trainer's local steps
 * for the part, each when a batch or a push says that the trainer has made it. All methods may be called on any thread.
 */
final class LocalDense {

  private final JobSpec spec;
  private final int rank;
  private final DensePartition partition;
  /** Destination of pulls: the servers' values. */
  private final DenseMemory server;
  private final long[] versions;
  private int answered;
  private boolean pulled;
  /** Null before the first batch, which says with which step the schedule of the learning rate begins. */
  private GeoState state;

  LocalDense(JobSpec spec, int rank) {
    this.spec = spec;
    this.rank = rank;
    partition = spec.partition();
    server = DenseMemory.of(new float[partition.numel()]);
    versions = new long[spec.shards()];
  }

  /** Returns a shard's part of the servers' values, to be written by a pull. */
  DenseSlice server(int shard) {
    return server.slice(partition, shard);
  }

  /**
   * Notes that a shard has answered a pull.
   *
   * @param exchange true if the pull ends an exchange, so that local steps since then remain
   * @param shards that answer
   */
  synchronized void pulled(int shard, long version, boolean exchange, int shards) {
    versions[shard] = version;
    if (++answered < shards) {
      return;
    }
    answered = 0;
    pulled = true;
    if (state != null && exchange) {
      state.merge(values());
    } else if (state != null) {
      state.renew(values());
    }
  }

  private ParameterClient.Values values() {
    return new ParameterClient.Values(versions.clone(), server.toArray(), List.of(), 0);
  }

  /**
   * Makes the local steps that the trainer has made, and returns the values after them.
   *
   * @param steps made by each replica of the trainer
   */
  synchronized float[] values(List<Long> steps, KeptGradients kept) {
    if (state == null) {
      if (!pulled) {
        return server.toArray();
      }
      state = new GeoState(spec, rank, Integer.MAX_VALUE, steps.isEmpty() ? 0 : Collections.max(steps));
      state.renew(values());
    }
    make(steps, kept);
    return state.dense();
  }

  /** Makes the local steps that the trainer has made, and returns the difference for its push; null: there is none. */
  synchronized DenseMemory delta(List<Long> steps, KeptGradients kept) {
    if (state == null) {
      kept.take(steps);
      return null;
    }
    make(steps, kept);
    return DenseMemory.of(state.takeDelta().dense());
  }

  private void make(List<Long> steps, KeptGradients kept) {
    List<KeptGradients.BatchGradient> taken = kept.take(steps);
    if (!taken.isEmpty()) {
      state.step(KeptGradients.merged(taken).toArray(), List.of());
    }
  }
}
