package io.regatta.training.model;

import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The forward passes of a block for predictions. On MXNet the first pass of each input shape is recorded, and later
 * ones are a {@link RecordedGraph}: the calls from here, operator by operator, take longer than a small batch. The rows
 * of sparse tables are looked up before. Operators, their order and so the bits are the same. A block whose passes
 * cannot be recorded runs operator by operator. Belongs to a model thread.
 */
public final class PredictingForward implements AutoCloseable {

  /** Most input shapes with a graph, because a graph has memory of its own. */
  private static final int GRAPHS_MAX = 24;
  /** Most bytes of inputs of a pass with a graph: the calls are a small part of larger ones. */
  private static final long INPUT_BYTES_MAX = 4L << 20;

  /** A lookup in a pass, and which of the pass's inputs it was given. */
  private record Lookup(DistributedEmbedding embedding, int[] inputs) {}

  private record Pass(RecordedGraph graph, List<Lookup> lookups) {}

  private final Block block;
  private final List<DistributedEmbedding> embeddings = new ArrayList<>();
  /** Empty: passes of this shape run operator by operator. */
  private final Map<List<Shape>, Optional<Pass>> passes = new HashMap<>();
  private boolean recordable;

  /** @param block initialized; its embeddings have a source of rows */
  public PredictingForward(Block block) {
    this.block = block;
    recordable = Engines.isMxnet(Engines.current());
    collect(block);
  }

  private void collect(Block within) {
    if (within instanceof DistributedEmbedding embedding) {
      embeddings.add(embedding);
    }
    within.getChildren().forEach(child -> collect(child.getValue()));
  }

  /** Returns the outputs of the block, which are released with the scope. */
  public NDList forward(NDManager scope, NDList inputs) {
    if (!recordable) {
      return imperative(scope, inputs);
    }
    List<Shape> shapes = inputs.stream().map(NDArray::getShape).toList();
    Optional<Pass> known = passes.get(shapes);
    if (known == null) {
      long bytes = inputs.stream().mapToLong(input -> input.size() * input.getDataType().getNumOfBytes()).sum();
      return passes.size() == GRAPHS_MAX || bytes > INPUT_BYTES_MAX ? imperative(scope, inputs)
          : record(scope, shapes, inputs);
    }
    return known.isEmpty() ? imperative(scope, inputs) : run(known.get(), scope, inputs);
  }

  private NDList imperative(NDManager scope, NDList inputs) {
    return block.forward(new ParameterStore(scope, false), inputs, false);
  }

  private static NDList run(Pass pass, NDManager scope, NDList inputs) {
    NDList all = new NDList(inputs);
    for (Lookup lookup : pass.lookups) {
      NDList given = new NDList();
      for (int input : lookup.inputs) {
        given.add(inputs.get(input));
      }
      all.add(lookup.embedding.lookUp(given, false));
    }
    return pass.graph.run(scope, all);
  }

  private NDList record(NDManager scope, List<Shape> shapes, NDList inputs) {
    List<Lookup> lookups = new ArrayList<>();
    NDList all = new NDList(inputs);
    boolean[] foreign = new boolean[1];
    inputs.stream().filter(input -> input.getDataType().isFloating()).forEach(input -> input.setRequiresGradient(true));
    embeddings.forEach(embedding -> embedding.observe((given, rows) -> {
      int[] places = given.stream().mapToInt(array -> indexOf(inputs, array)).toArray();
      for (int place : places) {
        foreign[0] |= place < 0;
      }
      rows.setRequiresGradient(true); // else the tape omits what precedes the first parameter
      lookups.add(new Lookup(embedding, places));
      all.add(rows);
    }));
    JnaUtils.autogradSetIsRecording(true);
    JnaUtils.autogradSetTraining(false);
    NDList outputs;
    try {
      outputs = imperative(scope, inputs);
    } finally {
      JnaUtils.autogradSetIsRecording(false);
      embeddings.forEach(embedding -> embedding.observe(null));
    }
    Optional<RecordedGraph> graph = foreign[0] ? Optional.empty()
        : RecordedGraph.of(block, all, outputs, "static_alloc", "true", "static_shape", "true");
    recordable = graph.isPresent();
    passes.put(shapes, graph.map(recorded -> new Pass(recorded, List.copyOf(lookups))));
    return outputs;
  }

  private static int indexOf(NDList inputs, NDArray array) {
    for (int i = 0; i < inputs.size(); i++) {
      if (inputs.get(i) == array) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public void close() {
    passes.values().forEach(pass -> pass.ifPresent(recorded -> recorded.graph.close()));
    passes.clear();
  }
}
