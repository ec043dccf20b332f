package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DenseVariable;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.StepTimes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * The trainable dense parameters of a model as one flat vector, in the order of its {@code ParameterList}. The list's
 * keys are the names on the wire, because a parameter's own id differs between processes. Belongs to the model thread.
 * Arrays of parameters and gradients live as long as the model.
 */
public final class DenseParameters implements AutoCloseable {

  private static final NDIndex ALL = new NDIndex("...");

  private final List<DenseVariable> variables = new ArrayList<>();
  private final List<NDArray> values = new ArrayList<>();
  /** Handles of the gradients if the engine keeps their arrays (MXNet); empty if it makes new ones. */
  private final List<NDArray> gradients = new ArrayList<>();
  private final FreshGradients fresh;
  private final Map<String, NDArray> frozen = new LinkedHashMap<>();
  private final HostCopy host;
  private final int numel;
  /** Buffers for gradients, used in turn: some may still be borrowed while the next one is read. */
  private FlatGradient[] memories = new FlatGradient[1];
  private int next;
  private int floatsBehind;
  private IntFunction<TensorMemory> memory = TensorMemory::direct;
  /** True if the model has been evaluated since the last training forward pass. */
  private boolean evaluated;
  /**
   * Variables whose gradients are read, and whose values are written after each step: all, unless others train some.
   */
  private final BitSet trained = new BitSet();

  /** Direct memory of a gradient, as it is borrowed and as the engine writes it. */
  private record FlatGradient(DenseMemory lent, TensorMemory memory, FloatBuffer floats, Pointer pointer) {

    static FlatGradient of(int numel, TensorMemory memory) {
      ByteBuffer bytes = memory.bytes().order(ByteOrder.nativeOrder());
      return new FlatGradient(DenseMemory.of(bytes.slice(0, numel * Float.BYTES)), memory, bytes.asFloatBuffer(),
          Native.getDirectBufferPointer(bytes));
    }
  }

  /** Takes the initialized block's parameters that require a gradient, each once. */
  public DenseParameters(Block block, HostCopy host) {
    this.host = host;
    Set<Parameter> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    int total = 0;
    for (Pair<String, Parameter> pair : block.getParameters()) {
      Parameter parameter = pair.getValue();
      if (!seen.add(parameter) || !parameter.isInitialized()) {
        continue;
      }
      NDArray array = parameter.getArray();
      if (!parameter.requiresGradient()) {
        frozen.put(pair.getKey(), array);
        continue;
      }
      if (array.getDataType() != DataType.FLOAT32) {
        throw new InvalidInput("parameter " + pair.getKey() + " has data type " + array.getDataType()
            + "; only float32 parameters can be trained on servers");
      }
      List<Integer> shape = new ArrayList<>();
      for (long d : array.getShape().getShape()) {
        shape.add(Math.toIntExact(d));
      }
      DenseVariable variable = new DenseVariable(pair.getKey(), shape);
      variables.add(variable);
      values.add(array);
      if (Engines.isMxnet(array.getManager().getEngine())) {
        gradients.add(array.getGradient());
      }
      total = Math.addExact(total, variable.numel());
    }
    numel = total;
    trained.set(0, variables.size());
    fresh = new FreshGradients(values);
  }

  /** Returns names and shapes in flat order. */
  public List<DenseVariable> variables() {
    return List.copyOf(variables);
  }

  /** Chooses the variables that are trained here, by name; the others' gradients are zeros. */
  public void trains(Predicate<String> here) {
    for (int i = 0; i < variables.size(); i++) {
      trained.set(i, here.test(variables.get(i).name()));
    }
  }

  /** Returns the number of variables that are trained here. */
  public int trained() {
    return trained.cardinality();
  }

  /** Returns the elements of the flat vector. */
  public int numel() {
    return numel;
  }

  /** Returns a copy of the current values. */
  public float[] read() {
    float[] flat = new float[numel];
    int off = 0;
    for (NDArray value : values) {
      off += host.read(value, flat, off);
    }
    return flat;
  }

  /** Returns the values of the float32 parameters that are not trained, by name; they are this replica's own. */
  public Map<String, float[]> frozenValues() {
    Map<String, float[]> out = new LinkedHashMap<>();
    frozen.forEach((name, array) -> {
      if (array.getDataType() == DataType.FLOAT32) {
        float[] copy = new float[Math.toIntExact(array.size())];
        host.read(array, copy, 0);
        out.put(name, copy);
      }
    });
    return out;
  }

  /** Sets the values that are not trained; names as of {@link #frozenValues}. */
  public void writeFrozen(Map<String, float[]> given) {
    given.forEach((name, value) -> host.write(value, 0, frozen.get(name)));
  }

  /**
   * Notes that an evaluation begins: MXNet's MKL kernels then keep weights of convolutions in a layout of their own.
   */
  public void evaluated() {
    evaluated = true;
  }

  /** Notes that a training pass begins, which restores the plain layout. */
  public void trainingBegins() {
    evaluated = false;
  }

  /** Sets all values; direct memory is read in place. */
  public void write(DenseMemory flat) {
    write(flat, i -> true);
  }

  /** Sets the values that are trained here; direct memory is read in place. */
  public void writeTrained(DenseMemory flat) {
    write(flat, trained::get);
  }

  /** Sets the values that are trained elsewhere; direct memory is read in place. */
  public void writeOthers(DenseMemory flat) {
    write(flat, i -> !trained.get(i));
  }

  private void write(DenseMemory flat, IntPredicate which) {
    int off = 0;
    for (int i = 0; i < values.size(); i++) {
      NDArray value = values.get(i);
      if (!which.test(i)) {
        off += variables.get(i).numel();
        continue;
      }
      boolean reordered = evaluated && value.getShape().dimension() > 2 && Engines.isMxnet(value.getManager().getEngine());
      if (reordered) { // such a layout can only be set by a copy inside the engine
        try (NDArray plain = value.getManager().create(value.getShape())) {
          off += write(flat, off, plain);
          plain.copyTo(value);
        }
      } else {
        off += write(flat, off, value);
      }
    }
  }

  private int write(DenseMemory flat, int off, NDArray value) {
    return flat.array() != null ? host.write(flat.array(), off, value)
        : host.write(flat.direct(off, Math.toIntExact(value.size())), value);
  }

  /**
   * Configures the buffers, before the first gradients are read.
   *
   * @param gradientsAtATime gradients that may be borrowed at a time
   * @param behind floats to reserve after each
   * @param memory returns memory of the given number of bytes
   */
  public void lends(int gradientsAtATime, int behind, IntFunction<TensorMemory> memory) {
    memories = new FlatGradient[gradientsAtATime];
    floatsBehind = behind;
    this.memory = memory;
  }

  /**
   * Returns the gradients of the last backward pass, in direct memory that is reused after {@code gradientsAtATime}
   * calls. Waits for the engine, from the last layer to the first, which is the order in which backward produces them.
   * An engine that accumulates gradients finds them at zero afterwards.
   *
   * @param reader called for each gradient once it is in memory
   */
  public DenseMemory readGradients(StepTimes times, Exchange.GradientReader reader) {
    return gradients(times, reader, fresh(reader));
  }

  /** Returns the variables that have a gradient; null: all. */
  private BitSet fresh(Exchange.GradientReader reader) {
    BitSet of = reader == Exchange.GradientReader.NONE ? null : fresh.take();
    if (trained.cardinality() == variables.size()) {
      return of;
    }
    BitSet here = (BitSet) trained.clone();
    if (of != null) {
      here.and(of);
    }
    return here;
  }

  /** Returns zeros instead of gradients, for a step without a backward pass. */
  public DenseMemory noGradients(StepTimes times, Exchange.GradientReader reader) {
    return gradients(times, reader, new BitSet());
  }

  /** @param fresh variables that have a gradient; null: all */
  private DenseMemory gradients(StepTimes times, Exchange.GradientReader reader, BitSet fresh) {
    next = (next + 1) % memories.length;
    if (memories[next] == null) {
      memories[next] = FlatGradient.of(numel,
          memory.apply(Math.multiplyExact(Math.addExact(numel, floatsBehind), Float.BYTES)));
    }
    FlatGradient flat = memories[next];
    reader.begins(flat.memory(), fresh);
    int off = numel;
    for (int i = values.size() - 1; i >= 0; i--) {
      long begin = times.clock().nanos();
      off -= Math.toIntExact(values.get(i).size());
      if (fresh != null && !fresh.get(i)) {
        flat.pointer().setMemory((long) off * Float.BYTES, (long) variables.get(i).numel() * Float.BYTES, (byte) 0);
      } else {
        read(i, flat, off);
      }
      out(times, i, begin);
      reader.has(i);
    }
    return flat.lent();
  }

  private void read(int variable, FlatGradient to, int off) {
    if (!gradients.isEmpty()) {
      HostCopy.read(gradients.get(variable), to.floats(), to.pointer(), off);
      return;
    }
    try (NDArray array = values.get(variable).getGradient()) {
      HostCopy.read(array, to.floats(), to.pointer(), off);
      array.set(ALL, 0f); // in place; NDArray.set(Buffer) would leave PyTorch with memory that this side must free
    }
  }

  private void out(StepTimes times, int i, long begin) {
    if (times.traced()) {
      times.span("gradient out: wait for the engine, copy", begin, Map.of("variable", variables.get(i).name(), "bytes",
          4L * variables.get(i).numel()));
    }
  }

  /** Releases the handles of the gradients; the parameters belong to the model. */
  @Override
  public void close() {
    gradients.forEach(NDArray::close);
    gradients.clear();
  }
}
