package io.regatta.training.replica;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleConsumer;

/**
 * How one replica trades gradients for values. Belongs to its model thread, which its calls block; they fail with a
 * {@link io.regatta.core.error.RegattaException}.
 */
public interface Exchange {

  /** Gets the gradients of a step as they come, from the last variable's to the first's. */
  interface GradientReader {

    /** One that waits for the step. */
    GradientReader NONE = new GradientReader() {};

    /**
     * Nothing has been read yet.
     *
     * @param flat the gradients' memory, direct, with the floats behind them that {@link Exchange#floatsBehind} has asked for
     * @param fresh the variables that have a gradient; the others' will be zeros
     */
    default void begins(TensorMemory flat, BitSet fresh) {}

    /** The gradient of this variable lies in memory, behind those of all later ones. */
    default void has(int variable) {}
  }

  /** Floats that this exchange wants behind the gradients, in the same memory; none: it does not look at them as they come. */
  default int floatsBehind() {
    return 0;
  }

  /** Memory for the gradients of a step and the floats behind them, zeros. Blocks. */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Before the gradients of a step are read.
   *
   * @param examples their weight
   */
  default GradientReader reader(double examples) {
    return GradientReader.NONE;
  }

  /** Whether {@link #average} is for all to call before they evaluate or save: there are no servers to keep one's own apart from. */
  default boolean averages() {
    return false;
  }

  /** Makes values that are each rank's own (running means) their mean over the ranks, who all must call it. */
  default void average(float[] own) {
    throw new UnsupportedOperationException("ranks meet at the servers only");
  }

  /**
   * What this rank keeps of gradients from step to step, by name, the same names and lengths at all ranks: snapshots have that of
   * all. Live: a run that goes on writes it back before its first step.
   */
  default Map<String, float[]> kept() {
    return Map.of();
  }

  /** The dense values to start from, once rank 0 has set them. */
  DenseMemory start();

  /** Values of rows for the forward pass of the coming step: {@code [ids.length × dim]}. */
  default float[] rows(String table, int dim, long[] ids) {
    throw new UnsupportedOperationException("rows lie on servers, which this mode has none of");
  }

  /** Values of rows as they are now, for evaluation: waits for nobody, is not part of a step, and bears no rows. */
  default float[] evaluationRows(String table, int dim, long[] ids) {
    return rows(table, dim, ids);
  }

  /**
   * The next batch's ids are known while this step's backward pass still runs; asks for their rows if the mode allows
   * to have them without this step's update.
   */
  default void prefetch(List<SparseIds> next) {}

  /** Who is told the loss of each backward pass; null: nobody. */
  default DoubleConsumer losses() {
    return null;
  }

  /**
   * Ends a step.
   *
   * @param next ids of the next batch, if known; empty otherwise
   * @return dense values for the next step; read only, shared with other replicas, and good until the next call
   */
  DenseMemory step(Gradients gradients, List<SparseIds> next);

  /** Pushes that may be under way, with their gradients' memory, when {@link #step} has returned. */
  default int underWay() {
    return 0;
  }

  /** Told behind each step of the others that this rank has taken part in outside of its own. */
  default void onJoined(Runnable told) {}

  /** Figures for the result of the run, by name. */
  default Map<String, Double> figures() {
    return Map.of();
  }

  /** Takes over a step count that the ranks have agreed on. Returns newer dense values, or null to keep them. */
  DenseMemory resumed();

  /** Hands in what the servers do not have yet. */
  default void handIn() {}

  /** The servers' newest dense values. */
  DenseMemory newest();

  /** Returns a copy of the dense values that this rank has now, without asking a server. */
  default float[] last() {
    return newest().toArray(); // they lie in this process
  }
}
