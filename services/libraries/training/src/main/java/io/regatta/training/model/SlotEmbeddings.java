package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * A block of embeddings of different widths for the slots of one array of ids. Each child block looks up its columns
 * ({@link DistributedEmbedding.Builder#optColumns}) in a table of its own width, and their outputs are concatenated.
 * Input: ids {@code [batch, columns]}; output: {@code [batch, width]}, where width is the sum of slots times dim over
 * the blocks. Used on its trainer's model thread.
 */
public final class SlotEmbeddings extends AbstractBlock {

  private final List<DistributedEmbedding> blocks;

  /** @param blocks in the order of the output; each with its columns */
  public SlotEmbeddings(List<DistributedEmbedding> blocks) {
    if (blocks.isEmpty() || blocks.stream().anyMatch(b -> b.slots() == 0)) {
      throw new InvalidInput("SlotEmbeddings needs blocks with known slots: build each with optColumns (or optSlots)");
    }
    this.blocks = List.copyOf(blocks);
    for (DistributedEmbedding block : blocks) {
      addChildBlock(block.table(), block);
    }
  }

  /** Returns the values of an example. */
  public int width() {
    return blocks.stream().mapToInt(b -> b.slots() * b.dim()).sum();
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray ids = inputs.singletonOrThrow();
    NDList parts = new NDList(blocks.size());
    for (DistributedEmbedding block : blocks) {
      parts.add(block.forward(store, new NDList(ids), training).singletonOrThrow()
          .reshape(ids.getShape().get(0), (long) block.slots() * block.dim()));
    }
    return new NDList(parts.size() == 1 ? parts.get(0) : NDArrays.concat(parts, 1));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    blocks.forEach(b -> b.initialize(manager, dataType, inputShapes[0]));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), width())};
  }
}
