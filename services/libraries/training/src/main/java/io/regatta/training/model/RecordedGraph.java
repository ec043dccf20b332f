package io.regatta.training.model;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.engine.MxNDManager;
import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A forward pass that the engine's tape has recorded, as MXNet's {@code CachedOp}: the same operators in the same
 * order, for the same shapes, with one call from here. Belongs to a model thread.
 */
final class RecordedGraph implements AutoCloseable {

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();

    static void check(int status) {
      if (status != 0) {
        throw new IllegalStateException("MXNet: " + LIBRARY.MXGetLastError());
      }
    }
  }

  /** The source of an input of the graph: the index of one of the pass's inputs, or a parameter. */
  private record Source(int place, NDArray parameter) {
    NDArray of(NDList given) {
      return parameter != null ? parameter : given.get(place);
    }
  }

  private final Pointer op;
  private final List<Source> sources;

  private RecordedGraph(Pointer op, List<Source> sources) {
    this.op = op;
    this.sources = sources;
  }

  /**
   * Makes the graph of a pass that has just been recorded.
   *
   * @param block whose parameters it used
   * @param inputs of the pass
   * @param flags of the engine, keys and values in turn
   * @return empty if the pass used an array that is neither an input nor a parameter
   */
  static Optional<RecordedGraph> of(Block block, NDList inputs, NDList outputs, String... flags) {
    Pointer recorded = symbol(outputs);
    Pointer graph = null;
    try {
      graph = JnaUtils.createSymbolFromString(JnaUtils.getSymbolString(recorded)); // without the arrays of this pass
      Map<String, Source> sources = sources(block, inputs);
      List<Source> from = new ArrayList<>();
      for (String name : JnaUtils.listSymbolNames(graph)) {
        Source source = sources.get(name);
        if (source == null) {
          return Optional.empty();
        }
        from.add(source);
      }
      String[] keys = new String[flags.length / 2];
      String[] values = new String[flags.length / 2];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = flags[2 * i];
        values[i] = flags[2 * i + 1];
      }
      PointerByReference op = new PointerByReference();
      Mxnet.check(Mxnet.LIBRARY.MXCreateCachedOpEx(graph, keys.length, keys, values, op));
      return Optional.of(new RecordedGraph(op.getValue(), from));
    } finally {
      JnaUtils.freeSymbol(recorded);
      if (graph != null) {
        JnaUtils.freeSymbol(graph);
      }
    }
  }

  /** Computes the outputs; the inputs have the shapes of those that were recorded. */
  NDList run(NDManager scope, NDList inputs) {
    MxNDArray[] arrays = new MxNDArray[sources.size()];
    for (int i = 0; i < arrays.length; i++) {
      arrays[i] = (MxNDArray) sources.get(i).of(inputs);
    }
    return new NDList(JnaUtils.cachedOpInvoke((MxNDManager) scope, op, arrays));
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
  private static Map<String, Source> sources(Block block, NDList inputs) {
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
    JnaUtils.freeCachedOp(op);
  }
}
