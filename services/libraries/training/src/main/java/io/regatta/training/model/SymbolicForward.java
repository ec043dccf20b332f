package io.regatta.training.model;

import ai.djl.mxnet.engine.MxGradientCollector;
import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.engine.MxNDManager;
import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The training forward passes of one block as a graph, MXNet's {@code CachedOp}, as Gluon's {@code hybridize} makes
 * one. The first pass of each input shape runs operator by operator; the record of the engine's tape is the graph of
 * later passes. Operators, their order and so the bits are the same; only the calls from here are saved. Passes that
 * are not recorded (evaluation) are not changed. Belongs to a model thread; the graphs live until it is closed.
 */
final class SymbolicForward implements TrainingForward {

  /** Most input shapes with a graph; others run operator by operator, because a graph has memory of its own. */
  private static final int GRAPHS_MAX = 16;

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();

    static void check(int status) {
      if (status != 0) {
        throw new IllegalStateException("MXNet: " + LIBRARY.MXGetLastError());
      }
    }
  }

  /**
   * One graph. {@code inputs} gives, for each input of the graph, the index in the forward's inputs, or a parameter.
   */
  private record Graph(Pointer op, List<Source> inputs) {}

  private record Source(int place, NDArray parameter) {
    NDArray of(NDList given) {
      return parameter != null ? parameter : given.get(place);
    }
  }

  private final Block block;
  private final Map<List<Shape>, Graph> graphs = new HashMap<>();

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
    Graph graph = graphs.get(shapes);
    if (graph != null) {
      return run(graph, inputs);
    }
    if (graphs.size() == GRAPHS_MAX) {
      return imperative.apply(inputs);
    }
    inputs.stream().filter(input -> input.getDataType().isFloating() && !input.hasGradient())
        .forEach(input -> input.setRequiresGradient(true)); // else the tape omits what precedes the first parameter
    NDList outputs = imperative.apply(inputs);
    graphs.put(shapes, record(inputs, outputs));
    return outputs;
  }

  private static NDList run(Graph graph, NDList inputs) {
    MxNDArray[] arrays = graph.inputs.stream().map(source -> (MxNDArray) source.of(inputs)).toArray(MxNDArray[]::new);
    return new NDList(JnaUtils.cachedOpInvoke((MxNDManager) inputs.head().getManager(), graph.op, arrays));
  }

  private Graph record(NDList inputs, NDList outputs) {
    Pointer recorded = symbol(outputs);
    Pointer graph = null;
    try {
      graph = JnaUtils.createSymbolFromString(JnaUtils.getSymbolString(recorded)); // without the arrays of this pass
      Map<String, Source> sources = sources(inputs);
      List<Source> from = new ArrayList<>();
      for (String name : JnaUtils.listSymbolNames(graph)) {
        Source source = sources.get(name);
        if (source == null) {
          throw new InvalidInput("execution: symbolic: the block " + block.getClass().getSimpleName() + " takes an array in its "
              + "forward pass that is neither its input nor a parameter (rows of a sparse table, or one that it makes); use "
              + "execution: imperative");
        }
        from.add(source);
      }
      PointerByReference op = new PointerByReference();
      Mxnet.check(Mxnet.LIBRARY.MXCreateCachedOpEx(graph, 0, new String[0], new String[0], op));
      return new Graph(op.getValue(), from);
    } finally {
      JnaUtils.freeSymbol(recorded);
      if (graph != null) {
        JnaUtils.freeSymbol(graph);
      }
    }
  }

  /** Returns the tape's record of these arrays as one symbol. */
  private static Pointer symbol(NDList outputs) {
    List<Pointer> each = outputs.stream().map(JnaUtils::autogradGetSymbol).toList();
    try (Memory pointers = new Memory((long) each.size() * Native.POINTER_SIZE)) {
      for (int i = 0; i < each.size(); i++) {
        pointers.setPointer((long) i * Native.POINTER_SIZE, each.get(i));
      }
      PointerByReference in = new PointerByReference();
      in.setPointer(pointers);
      PointerByReference group = new PointerByReference();
      Mxnet.check(Mxnet.LIBRARY.MXSymbolCreateGroup(each.size(), in, group));
      return group.getValue();
    } finally {
      each.forEach(JnaUtils::freeSymbol);
    }
  }

  /** Returns the sources by their names on the tape. */
  private Map<String, Source> sources(NDList inputs) {
    Map<String, Source> sources = new HashMap<>();
    Map<Parameter, Boolean> seen = new IdentityHashMap<>();
    for (Pair<String, Parameter> named : block.getParameters()) {
      Parameter parameter = named.getValue();
      if (parameter.isInitialized() && seen.put(parameter, true) == null) {
        NDArray array = parameter.getArray();
        names(array).forEach(name -> sources.put(name, new Source(-1, array)));
      }
    }
    for (int i = 0; i < inputs.size(); i++) {
      Source input = new Source(i, null);
      names(inputs.get(i)).forEach(name -> sources.put(name, input));
    }
    return sources;
  }

  /** Returns one name, or none if the array took no part. */
  private static Stream<String> names(NDArray array) {
    Pointer symbol;
    try {
      symbol = JnaUtils.autogradGetSymbol(array);
    } catch (RuntimeException notRecorded) {
      return Stream.empty();
    }
    try {
      String[] names = JnaUtils.listSymbolNames(symbol);
      return names.length == 1 ? Stream.of(names[0]) : Stream.empty();
    } finally {
      JnaUtils.freeSymbol(symbol);
    }
  }

  @Override
  public void close() {
    graphs.values().forEach(graph -> JnaUtils.freeCachedOp(graph.op));
    graphs.clear();
  }
}
