package io.regatta.core.dense;

import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which elements of a shard's blocks belong to which dense variable. Immutable, any thread. */
public final class TensorParts {

  /**
   * Elements {@code [from .. to)} of a block.
   *
   * @param tensor index of the variable in the model
   */
  record Part(int tensor, int from, int to) {}

  private final int tensors;
  /** Parts by block. */
  private final List<List<Part>> blocks = new ArrayList<>();

  /**
   * Creates the parts of one shard.
   *
   * @param variables of the model
   * @param parts of the shard, in the order of its vector
   */
  public TensorParts(List<DenseVariable> variables, List<DensePartition.Part> parts) {
    tensors = variables.size();
    Map<String, Integer> numbers = new HashMap<>();
    variables.forEach(v -> numbers.put(v.name(), numbers.size()));
    for (DensePartition.Part part : parts) {
      int end = part.shardOffset() + part.size();
      for (int at = part.shardOffset(); at < end; ) {
        int b = at / DenseValues.BLOCK;
        int begin = b * DenseValues.BLOCK;
        int to = Math.min(end, begin + DenseValues.BLOCK);
        while (blocks.size() <= b) {
          blocks.add(new ArrayList<>());
        }
        blocks.get(b).add(new Part(numbers.get(part.variable()), at - begin, to - begin));
        at = to;
      }
    }
  }

  /** Returns the number of variables of the model. */
  public int tensors() {
    return tensors;
  }

  List<Part> of(int block) {
    return blocks.get(block);
  }
}
