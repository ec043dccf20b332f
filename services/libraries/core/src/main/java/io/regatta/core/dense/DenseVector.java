package io.regatta.core.dense;

import io.regatta.core.model.ParameterHash;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.Optimizer.Slot;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.core.optim.UpdateStep;
import java.util.Arrays;
import java.util.List;

/**
 * One shard's part of the flat dense vector with its optimizer slots, in blocks. Owned by the thread of its shard; not
 * thread-safe. A snapshot costs no copy: a block that a snapshot still needs is copied before it is updated, and only
 * then. Callers check lengths.
 */
public final class DenseVector {

  /** The values of one block. They change only while no snapshot needs them. */
  private static final class Block {
    final float[] values;
    /** Number of snapshots that need it. */
    int readers;
    /** True if it belongs to snapshots only, and no longer to the vector. */
    boolean replaced;

    Block(float[] values) {
      this.values = values;
    }
  }

  private final int size;
  private final OptimizerSpec spec;
  private final List<DenseTensor> tensors;
  private final BlockPool pool;
  private final Block[] blocks;
  /** Optimizer slots by block, then by slot. */
  private final float[][][] slots;
  /** The state that is being read; null if there is none. */
  private State state;

  /**
   * Creates a vector with a copy of {@code initial}.
   *
   * @param tensors the whole variables that are the vector, in order; empty if the optimizer does not need them
   * @param pool of the shard, for copies of blocks
   */
  public DenseVector(DenseValues initial, OptimizerSpec spec, List<DenseTensor> tensors, BlockPool pool) {
    this.tensors = tensors;
    this.pool = pool;
    size = initial.size();
    this.spec = spec;
    List<Slot> kept = spec.optimizer().slots();
    blocks = new Block[initial.blocks()];
    slots = new float[blocks.length][kept.size()][];
    for (int b = 0; b < blocks.length; b++) {
      int n = initial.length(b);
      blocks[b] = new Block(Arrays.copyOf(initial.block(b), n));
      for (int k = 0; k < kept.size(); k++) {
        slots[b][k] = new float[n];
        Arrays.fill(slots[b][k], kept.get(k).initial());
      }
    }
  }

  /**
   * Creates a vector from values and slots that were saved.
   *
   * @param values by block, each of its length
   * @param slots by block, then by slot
   * @param tensors as for a new vector
   */
  public DenseVector(int size, float[][] values, float[][][] slots, OptimizerSpec spec, List<DenseTensor> tensors, BlockPool pool) {
    this.tensors = tensors;
    this.size = size;
    this.pool = pool;
    this.slots = slots;
    this.spec = spec;
    blocks = new Block[values.length];
    for (int b = 0; b < blocks.length; b++) {
      blocks[b] = new Block(values[b]);
    }
  }

  /** Returns the number of elements. */
  public int size() {
    return size;
  }

  /**
   * Begins one optimizer step.
   *
   * @param updates number of updates so far, this one included
   */
  public DenseUpdate update(float lr, long updates) {
    UpdateStep step = spec.step(lr, updates);
    if (spec.optimizer() instanceof TensorwiseOptimizer tensorwise) {
      return new TensorwiseUpdate(this, tensorwise, step, tensors);
    }
    ElementwiseOptimizer elementwise = (ElementwiseOptimizer) spec.optimizer();
    return (visit, b, gradient) -> elementwise.applyWhole(writable(b), writableSlots(b), gradient, step);
  }

  /** Adds a delta, from its index 0, to the values of one block, without the optimizer. */
  public void add(int b, float[] delta) {
    float[] values = writable(b);
    for (int i = 0; i < values.length; i++) {
      values[i] += delta[i];
    }
  }

  /** Sets all values; the optimizer's slots stay. */
  public void assign(DenseValues values) {
    for (int b = 0; b < blocks.length; b++) {
      float[] to = writable(b);
      System.arraycopy(values.block(b), 0, to, 0, to.length);
    }
  }

  /** Returns the values of a block, to be read. */
  float[] values(int b) {
    return blocks[b].values;
  }

  /** Returns the values of a block, to be changed. */
  float[] writable(int b) {
    Block block = blocks[b];
    if (block.readers > 0) {
      float[] copy = block.values.length == DenseValues.BLOCK ? pool.take() : new float[block.values.length];
      System.arraycopy(block.values, 0, copy, 0, copy.length);
      block.replaced = true;
      blocks[b] = new Block(copy);
    }
    return blocks[b].values;
  }

  /** Returns the slots of a block, to be changed. */
  float[][] writableSlots(int b) {
    if (state != null && b >= state.released && slots[b] == state.seenSlots[b]) {
      float[][] copies = new float[slots[b].length][];
      for (int k = 0; k < copies.length; k++) {
        copies[k] = slots[b][k].clone();
      }
      slots[b] = copies;
    }
    return slots[b];
  }

  /** Returns values and slots as they are now; there can be one state at a time, until all of it has been released. */
  public DenseState state() {
    if (state != null) {
      throw new IllegalStateException("the state of this vector is being read already");
    }
    state = new State();
    return state;
  }

  private final class State implements DenseState {
    private final DenseValues values = snapshot();
    private final float[][][] seenSlots = slots.clone();
    private int released;

    @Override
    public int size() {
      return size;
    }

    @Override
    public float[] values(int b) {
      return values.block(b);
    }

    @Override
    public float[][] slots(int b) {
      return seenSlots[b];
    }

    @Override
    public void releaseUntil(int b) {
      for (; released < b; released++) {
        seenSlots[released] = null;
      }
      boolean all = b == seenSlots.length;
      values.releaseUntil(all ? size : b * DenseValues.BLOCK);
      if (all && state == this) {
        state = null;
      }
    }
  }

  /** Returns the values as they are now, unaffected by later changes of the vector; to be released. */
  public DenseValues snapshot() {
    return new Snapshot();
  }

  /**
   * Returns the hash of the elements {@code [off .. off+n)}, which are those from {@code variableOffset} of a variable.
   */
  public long digest(String variable, int variableOffset, int off, int n) {
    long sum = 0;
    for (int done = 0; done < n; ) {
      int b = (off + done) / DenseValues.BLOCK;
      int at = off + done - b * DenseValues.BLOCK;
      int part = Math.min(n - done, blocks[b].values.length - at);
      sum += ParameterHash.dense(variable, variableOffset + done, blocks[b].values, at, part);
      done += part;
    }
    return sum;
  }

  private final class Snapshot implements DenseValues {
    private final Block[] seen = blocks.clone();
    /** Blocks before this one are not needed any more. */
    private int released;

    Snapshot() {
      for (Block block : seen) {
        block.readers++;
      }
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public float[] block(int b) {
      return seen[b].values;
    }

    @Override
    public void releaseUntil(int end) {
      for (int to = end == size ? seen.length : end / BLOCK; released < to; released++) {
        Block block = seen[released];
        seen[released] = null;
        if (--block.readers == 0 && block.replaced) {
          pool.give(block.values);
        }
      }
    }

    @Override
    public void release() {
      releaseUntil(size);
    }
  }
}
