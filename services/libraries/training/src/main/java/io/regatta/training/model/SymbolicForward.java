package io.regatta.training.model;

import ai.djl.mxnet.engine.MxGradientCollector;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The training forward passes of one block as a graph, MXNet's {@code CachedOp}, as Gluon's {@code hybridize} makes
 * one. The first pass of each input shape runs operator by operator; the record of the engine's tape is the graph of
 * later passes. Operators, their order and so the bits are the same; only the calls from here are saved. Passes that
 * are not recorded (evaluation) are not changed. Belongs to a model thread; the graphs live until it is closed.
 */
final class SymbolicForward implements TrainingForward {

  /** Most input shapes with a graph; others run operator by operator, because a graph has memory of its own. */
  private static final int GRAPHS_MAX = 16;

  private final Block block;
  private final Map<List<Shape>, RecordedGraph> graphs = new HashMap<>();

  /** @param block initialized, with its parameters on MXNet */
  SymbolicForward(Block block) {
    this.block = block;
  }

  /**
   * Computes the block's outputs; see {@link TrainingForward#forward}.
   *
   * @throws InvalidInput if the block uses arrays other than its inputs and parameters
   */
  @Override
  public NDList forward(NDList inputs, Function<NDList, NDList> imperative) {
    if (!MxGradientCollector.isRecording()) {
      return imperative.apply(inputs);
    }
    List<Shape> shapes = inputs.stream().map(NDArray::getShape).toList();
    RecordedGraph graph = graphs.get(shapes);
    if (graph != null) {
      return graph.run(inputs.head().getManager(), inputs);
    }
    if (graphs.size() == GRAPHS_MAX) {
      return imperative.apply(inputs);
    }
    inputs.stream().filter(input -> input.getDataType().isFloating() && !input.hasGradient())
        .forEach(input -> input.setRequiresGradient(true)); // else the tape omits what precedes the first parameter
    NDList outputs = imperative.apply(inputs);
    graphs.put(shapes, RecordedGraph.of(block, inputs, outputs).orElseThrow(() -> new InvalidInput("execution: symbolic: the block "
        + block.getClass().getSimpleName() + " takes an array in its forward pass that is neither its input nor a parameter (rows of a "
        + "sparse table, or one that it makes); use execution: imperative")));
    return outputs;
  }

  @Override
  public void close() {
    graphs.values().forEach(RecordedGraph::close);
    graphs.clear();
  }
}
