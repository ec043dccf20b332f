package io.regatta.training.replica;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleConsumer;

/**
 * The exchange of gradients for values by one replica. Belongs to its model thread, which its calls block; they fail
 * with a {@link io.regatta.core.error.RegattaException}.
 */
public interface Exchange {

  /** A reader of the gradients of a step, called for each as it is ready, from the last variable's to the first's. */
  interface GradientReader {

    /** A reader that does nothing, for exchanges that wait for the step. */
    GradientReader NONE = new GradientReader() {};

    /**
     * Called before the first gradient is read.
     *
     * @param flat the gradients' direct memory, with the floats after them that {@link Exchange#floatsBehind} requires
     * @param fresh the variables that have a gradient; those of the others will be zeros
     */
    default void begins(TensorMemory flat, BitSet fresh) {}

    /** Called when the gradient of this variable is in memory, after those of all later variables. */
    default void has(int variable) {}
  }

  /** Returns the floats that this exchange requires after the gradients, in the same memory. */
  default int floatsBehind() {
    return 0;
  }

  /** Returns memory for the gradients of a step and the floats after them, zeroed. Blocks. */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Returns the reader of a step's gradients; called before they are read.
   *
   * @param examples their weight
   */
  default GradientReader reader(double examples) {
    return GradientReader.NONE;
  }

  /**
   * Returns true if all ranks must call {@link #average} before they evaluate or save, because there are no servers.
   */
  default boolean averages() {
    return false;
  }

  /**
   * Replaces values that are each rank's own (running means) by their mean over the ranks, all of which must call it.
   */
  default void average(float[] own) {
    throw new UnsupportedOperationException("only exchanges without servers average values over the ranks");
  }

  /**
   * Returns the gradient state that this rank keeps from step to step, by name; names and lengths are the same on all
   * ranks. Snapshots contain that of all ranks. The arrays are live: a resumed run writes the state into them before
   * its first step.
   */
  default Map<String, float[]> kept() {
    return Map.of();
  }

  /** Returns the initial dense values, once rank 0 has set them. */
  DenseMemory start();

  /** Returns values of rows for the forward pass of the next step: {@code [ids.length × dim]}. */
  default float[] rows(String table, int dim, long[] ids) {
    throw new UnsupportedOperationException("rows are stored on servers, and this mode has none");
  }

  /**
   * Returns the present values of rows, for evaluation: it waits for no rank, is not part of a step, and creates no
   * rows.
   */
  default float[] evaluationRows(String table, int dim, long[] ids) {
    return rows(table, dim, ids);
  }

  /**
   * Announces the next batch's ids while this step's backward pass still runs. Pulls their rows if the mode allows
   * values without this step's update.
   */
  default void prefetch(List<SparseIds> next) {}

  /** Returns the consumer of the loss of each backward pass; null if there is none. */
  default DoubleConsumer losses() {
    return null;
  }

  /**
   * Ends a step.
   *
   * @param next ids of the next batch, if known; empty otherwise
   * @return dense values for the next step; read only, shared with other replicas, and valid until the next call
   */
  DenseMemory step(Gradients gradients, List<SparseIds> next);

  /**
   * Returns the largest number of pushes, with their gradients' memory, that may be in progress when {@link #step} has
   * returned.
   */
  default int underWay() {
    return 0;
  }

  /** Sets the action after each step of the others in which this rank has taken part outside of its own. */
  default void onJoined(Runnable told) {}

  /** Returns metrics for the result of the run, by name. */
  default Map<String, Double> figures() {
    return Map.of();
  }

  /** Takes over a step count on which the ranks have agreed. Returns newer dense values, or null to keep them. */
  DenseMemory resumed();

  /** Flushes what the servers do not have yet. */
  default void handIn() {}

  /** Returns the servers' newest dense values. */
  DenseMemory newest();

  /**
   * Returns the dense values of the last step, for an evaluation. Those that {@link #step} has returned are older if
   * heter workers have them.
   */
  default DenseMemory current() {
    throw new UnsupportedOperationException("the values of the last step are those that step has returned");
  }

  /** Returns a copy of the dense values that this rank has now, without a request to a server. */
  default float[] last() {
    return newest().toArray(); // they are in this process
  }
}
