package io.regatta.training.cut;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.BlockList;
import ai.djl.nn.Parameter;
import ai.djl.nn.ParameterList;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.PairList;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A block that heter workers may compute in training, made by {@link Heter#remote}. Its parameters are those of
 * the block in it, under the same names. Used on its trainer's model thread.
 */
public final class RemoteBlock implements Block {

  /** A computation of the part, attached by a trainer. */
  @FunctionalInterface
  public interface Computation {

    /**
     * Computes a training pass.
     *
     * @param here computes it in this process
     */
    NDList outputs(NDList inputs, Supplier<NDList> here);
  }

  private static final Computation HERE = (inputs, here) -> here.get();

  private final Block block;
  private final int inputs;
  private final BinaryOperator<NDList> rest;
  private Computation computation = HERE;
  private Shape[] shapes = {};

  RemoteBlock(Block block, int inputs, BinaryOperator<NDList> rest) {
    this.block = block;
    this.inputs = inputs;
    this.rest = rest;
  }

  /** Returns how many of the part's first inputs are the block's; the others are used after it. */
  public int blockInputs() {
    return inputs;
  }

  /** Sets how training passes are computed. */
  public void attach(Computation how) {
    computation = how;
  }

  /** Lets training passes be computed in this process again. */
  public void detach() {
    computation = HERE;
  }

  /** Computes the part in this process, whatever is attached. */
  public NDList compute(ParameterStore store, NDList given, boolean training) {
    return compute(given, own -> block.forward(store, own, training));
  }

  private NDList compute(NDList given, UnaryOperator<NDList> forward) {
    int own = Math.min(inputs, given.size());
    NDList others = new NDList(given.subList(own, given.size()));
    return rest.apply(forward.apply(new NDList(given.subList(0, own))), others);
  }

  @Override
  public NDList forward(ParameterStore store, NDList given, boolean training, PairList<String, Object> params) {
    Supplier<NDList> here = () -> compute(given, own -> block.forward(store, own, training, params));
    return training ? computation.outputs(given, here) : here.get();
  }

  @Override
  public NDList forward(ParameterStore store, NDList given, NDList labels, PairList<String, Object> params) {
    return computation.outputs(given, () -> compute(given, own -> block.forward(store, own, labels, params)));
  }

  @Override
  public void setInitializer(Initializer initializer, Parameter.Type type) {
    block.setInitializer(initializer, type);
  }

  @Override
  public void setInitializer(Initializer initializer, String name) {
    block.setInitializer(initializer, name);
  }

  @Override
  public void setInitializer(Initializer initializer, Predicate<Parameter> predicate) {
    block.setInitializer(initializer, predicate);
  }

  @Override
  public void initialize(NDManager manager, DataType type, Shape... given) {
    shapes = given.clone();
    block.initialize(manager, type, own(given));
  }

  private Shape[] own(Shape[] given) {
    return Arrays.copyOf(given, Math.min(inputs, given.length));
  }

  @Override
  public boolean isInitialized() {
    return block.isInitialized();
  }

  @Override
  public void cast(DataType type) {
    block.cast(type);
  }

  @Override
  public void clear() {
    block.clear();
  }

  @Override
  public PairList<String, Shape> describeInput() {
    return block.describeInput();
  }

  @Override
  public BlockList getChildren() {
    BlockList children = new BlockList();
    children.add("block", block);
    return children;
  }

  @Override
  public ParameterList getDirectParameters() {
    return new ParameterList();
  }

  @Override
  public ParameterList getParameters() {
    return block.getParameters();
  }

  /** Returns the shapes of the block's outputs. */
  @Override
  public Shape[] getOutputShapes(Shape[] given) {
    return block.getOutputShapes(own(given));
  }

  /** Returns the shapes of the part's inputs, as it was initialized. */
  @Override
  public Shape[] getInputShapes() {
    return shapes.clone();
  }

  @Override
  public DataType[] getOutputDataTypes() {
    return block.getOutputDataTypes();
  }

  @Override
  public void saveParameters(DataOutputStream out) throws IOException {
    block.saveParameters(out);
  }

  @Override
  public void loadParameters(NDManager manager, DataInputStream in) throws IOException, MalformedModelException {
    block.loadParameters(manager, in);
  }

  @Override
  public Map<String, String> getCustomMetadata() {
    return block.getCustomMetadata();
  }
}
