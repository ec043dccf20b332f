package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.config.JobConfig;
import io.regatta.training.model.Engines;
import io.regatta.training.model.FreshGradients;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a network after its cut, and the loss, at a heter worker. A batch's result depends on the batch alone:
 * values of parameters, running means and the seed of random numbers come with it. Belongs to the model thread of its
 * trainer.
 */
public final class PartModel implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PartModel.class);
  private static final NDIndex ALL = new NDIndex("...");

  /** The sender of a batch, whose next batch shows that the result of the last one has been received. */
  private record Sender(int rank, int replica) {}

  private final JobConfig job;
  private final NetworkCut cut;
  private final Loss loss;
  private final Clock clock;
  private final CutSignature signature;
  private final NDManager manager;
  private final ParameterStore store;
  private final List<String> names;
  private final List<NDArray> parameters = new ArrayList<>();
  /** Handles of the gradients if the engine keeps their arrays (MXNet); empty if it makes new ones. */
  private final List<NDArray> gradients = new ArrayList<>();
  private final FreshGradients fresh;
  private final Map<Sender, Tensors> results = new HashMap<>();

  /** The arrays of one batch, or of several that are computed as one. */
  private record Arrays(NDList inputs, NDList labels, NDList networkLabels) {}

  /** The results of a pass. */
  private record Passed(NDList outputs, double loss) {}

  /**
   * Creates the part.
   *
   * @param network initialized
   * @param shapes with which it was initialized
   * @param loss the mean over a batch's examples
   * @param manager of the trainer
   */
  public PartModel(JobConfig job, Block network, Shape[] shapes, Loss loss, NDManager manager, Clock clock) {
    this.job = job;
    this.loss = loss;
    this.clock = clock;
    cut = NetworkCut.of(job, network);
    signature = cut.signature(shapes);
    this.manager = manager.newSubManager();
    store = new ParameterStore(this.manager, false);
    names = List.copyOf(cut.trained().keySet());
    cut.trained().values().forEach(parameter -> parameters.add(parameter.getArray()));
    fresh = new FreshGradients(parameters);
    parameters.stream().filter(array -> Engines.isMxnet(array.getManager().getEngine()))
        .forEach(array -> gradients.add(array.getGradient()));
  }

  /** Returns the parameters that are trained, by name. */
  Map<String, NDArray> values() {
    Map<String, NDArray> values = new LinkedHashMap<>();
    cut.trained().forEach((name, parameter) -> values.put(name, parameter.getArray()));
    return values;
  }

  /** Returns what crosses the cut: inputs and parameters, without labels. */
  public CutSignature signature() {
    return signature;
  }

  /** Returns true if several batches may be computed as one. */
  public boolean isGatherable() {
    return cut.isGatherable() && job.optimizer().clipNorm() == 0;
  }

  /**
   * Computes batches, as one if there are several that allow it. The results' memory is used again for the next batch
   * of the same replica.
   *
   * @param batches of the same values, at least one
   * @return results in the order of the batches
   */
  public List<ComputedBatch> compute(List<BatchToCompute> batches) {
    if (batches.size() > 1 && isGatherable() && haveOneShape(batches) && haveSameValues(batches)) {
      return gathered(batches);
    }
    return batches.stream().map(this::alone).toList();
  }

  private ComputedBatch alone(BatchToCompute batch) {
    long begin = clock.nanos();
    Tensors result = result(batch.id());
    setValues(batch);
    try (NDManager scope = manager.newSubManager()) {
      Arrays arrays = new Arrays(inputs(scope, batch), arrays(scope, batch, Role.LABEL), networkLabels(scope, batch));
      Passed passed = pass(arrays, batch);
      for (int i = 0; i < passed.outputs().size(); i++) {
        result.add(Role.OUTPUT, "output " + i, passed.outputs().get(i), false);
      }
      for (int i = 0; i < arrays.inputs().size(); i++) {
        if (isAsked(batch, i)) {
          result.add(Role.INPUT_GRADIENT, "gradient of input " + i, arrays.inputs().get(i).getGradient(), false);
        }
      }
      cut.frozen().forEach((name, parameter) -> result.add(Role.FROZEN, name, parameter.getArray(), false));
      addGradients(result, fresh.take(), scope);
      List<TensorData> tensors = result.take();
      clearGradients();
      return computed(batch, passed.loss(), false, clock.nanos() - begin, tensors);
    }
  }

  private List<ComputedBatch> gathered(List<BatchToCompute> batches) {
    long begin = clock.nanos();
    setValues(batches.get(0));
    try (NDManager scope = manager.newSubManager()) {
      List<Arrays> each = new ArrayList<>();
      for (BatchToCompute batch : batches) {
        each.add(new Arrays(arrays(scope, batch, Role.INPUT), arrays(scope, batch, Role.LABEL), networkLabels(scope,
            batch)));
      }
      NDList inputs = concat(each.stream().map(Arrays::inputs).toList());
      NDList labels = concat(each.stream().map(Arrays::labels).toList());
      for (int i = 0; i < inputs.size(); i++) {
        if (isAsked(batches.get(0), i)) {
          inputs.get(i).setRequiresGradient(true);
        }
      }
      NDList networkLabels = each.get(0).networkLabels() == null ? null : labels;
      Passed passed = pass(new Arrays(inputs, labels, networkLabels), batches.get(0));
      long all = inputs.head().getShape().get(0);
      List<ComputedBatch> computed = new ArrayList<>();
      long first = 0;
      BitSet reached = fresh.take();
      for (int b = 0; b < batches.size(); b++) {
        BatchToCompute batch = batches.get(b);
        long own = each.get(b).inputs().head().getShape().get(0);
        NDIndex slice = new NDIndex(first + ":" + (first + own));
        Tensors result = result(batch.id());
        for (int i = 0; i < passed.outputs().size(); i++) {
          result.add(Role.OUTPUT, "output " + i, passed.outputs().get(i).get(slice), false);
        }
        for (int i = 0; i < inputs.size(); i++) {
          if (isAsked(batch, i)) {
            NDArray gradient = inputs.get(i).getGradient().get(slice).mul((float) all / own);
            result.add(Role.INPUT_GRADIENT, "gradient of input " + i, gradient, false);
          }
        }
        addGradients(result, reached, scope);
        computed.add(computed(batch, passed.loss(), true, clock.nanos() - begin, result.take()));
        first += own;
      }
      clearGradients();
      return computed;
    }
  }

  /** Computes outputs, loss and gradients. */
  private Passed pass(Arrays arrays, BatchToCompute batch) {
    CutBatch head = batch.head();
    try (GradientCollector collector = Engines.newGradientCollector()) {
      BatchSeed.set(job.seed(), batch.id().trainer().rank(), job.threads(), head.getReplica(), head.getStep(),
          BatchSeed.PassPhase.PART);
      NDList outputs = cut.forward(store, arrays.inputs(), arrays.networkLabels());
      NDArray value = loss.evaluate(arrays.labels(), outputs);
      if (!parameters.isEmpty() || arrays.inputs().stream().anyMatch(NDArray::hasGradient)) {
        collector.backward(value);
      }
      double mean = Means.of(value);
      if (Double.isNaN(mean)) {
        LOG.warn("job {}: the loss of batch {} of trainer {} is NaN, in its step {}", job.job(), batch.id().number(),
            batch.id().trainer().rank(), head.getStep());
      }
      return new Passed(outputs, mean);
    }
  }

  private void setValues(BatchToCompute batch) {
    set(Tensors.of(batch.tensors(), Role.DENSE_VALUES), cut.trained());
    set(Tensors.of(batch.tensors(), Role.FROZEN), cut.frozen());
  }

  private void set(List<TensorData> values, Map<String, Parameter> of) {
    for (TensorData value : values) {
      Parameter parameter = of.get(value.tensor().getName());
      if (parameter == null) {
        throw new InvalidInput("job " + job.job() + ": a batch has values of a parameter " + value.tensor().getName()
            + ", which the part after the cut does not have here; start all processes with the same job and program");
      }
      Tensors.set(parameter.getArray(), value);
    }
  }

  private NDList inputs(NDManager scope, BatchToCompute batch) {
    NDList inputs = arrays(scope, batch, Role.INPUT);
    for (int i = 0; i < inputs.size(); i++) {
      if (isAsked(batch, i)) {
        inputs.get(i).setRequiresGradient(true);
      }
    }
    return inputs;
  }

  private static boolean isAsked(BatchToCompute batch, int input) {
    return Tensors.of(batch.tensors(), Role.INPUT).get(input).tensor().getGradient();
  }

  private static NDList arrays(NDManager scope, BatchToCompute batch, Role role) {
    NDList arrays = new NDList();
    Tensors.of(batch.tensors(), role).forEach(data -> arrays.add(Tensors.create(scope, data)));
    return arrays;
  }

  /** Returns the labels that the network itself takes; null if it takes none. */
  private static NDList networkLabels(NDManager scope, BatchToCompute batch) {
    List<TensorData> labels = Tensors.of(batch.tensors(), Role.LABEL);
    if (labels.isEmpty() || !labels.get(0).tensor().getName().startsWith(RemotePart.NETWORK_LABEL)) {
      return null;
    }
    return arrays(scope, batch, Role.LABEL);
  }

  /** Adds the gradients of the parameters that took part; handles that are made for it belong to the scope. */
  private void addGradients(Tensors result, BitSet reached, NDManager scope) {
    for (int i = 0; i < parameters.size(); i++) {
      if (reached.get(i)) {
        result.add(Role.DENSE_GRADIENT, names.get(i), gradient(i, scope), false);
      }
    }
  }

  private NDArray gradient(int parameter, NDManager scope) {
    if (!gradients.isEmpty()) {
      return gradients.get(parameter);
    }
    NDArray gradient = parameters.get(parameter).getGradient();
    gradient.attach(scope);
    return gradient;
  }

  /** Prepares an engine that adds to gradients for the next batch. */
  private void clearGradients() {
    for (NDArray parameter : parameters) {
      if (!Engines.isMxnet(parameter.getManager().getEngine())) {
        try (NDArray gradient = parameter.getGradient()) {
          gradient.set(ALL, 0f);
        }
      }
    }
  }

  private Tensors result(BatchId id) {
    return results.computeIfAbsent(new Sender(id.trainer().rank(), id.replica()), sender -> new Tensors()).begin();
  }

  private static ComputedBatch computed(BatchToCompute batch, double loss, boolean gathered, long nanos,
      List<TensorData> tensors) {
    return new ComputedBatch(batch.id(),
        CutResult.newBuilder().setNumber(batch.id().number()).setReplica(batch.id().replica())
        .setLoss(loss).setGathered(gathered).setComputedNs(nanos).build(), tensors);
  }

  private static NDList concat(List<NDList> lists) {
    NDList all = new NDList();
    for (int i = 0; i < lists.get(0).size(); i++) {
      NDList parts = new NDList();
      for (NDList list : lists) {
        parts.add(list.get(i));
      }
      all.add(NDArrays.concat(parts, 0));
    }
    return all;
  }

  /** Returns true if the batches differ in their number of examples only, which all of their arrays have first. */
  private static boolean haveOneShape(List<BatchToCompute> batches) {
    List<String> shapes = null;
    for (BatchToCompute batch : batches) {
      List<String> own = new ArrayList<>();
      for (TensorData data : batch.tensors()) {
        Role role = data.tensor().getRole();
        if (role != Role.INPUT && role != Role.LABEL) {
          continue;
        }
        Shape shape = Tensors.shape(data.tensor());
        if (shape.dimension() == 0 || shape.get(0) != batch.head().getExamples() || shape.get(0) == 0) {
          return false;
        }
        own.add(data.tensor().getElement() + " " + shape.slice(1));
      }
      if (shapes != null && !shapes.equals(own)) {
        return false;
      }
      shapes = own;
    }
    return true;
  }

  /** Returns true if all batches are to be computed with the same bits of the parameters. */
  private static boolean haveSameValues(List<BatchToCompute> batches) {
    List<TensorData> first = Tensors.of(batches.get(0).tensors(), Role.DENSE_VALUES);
    for (BatchToCompute batch : batches.subList(1, batches.size())) {
      List<TensorData> other = Tensors.of(batch.tensors(), Role.DENSE_VALUES);
      if (other.size() != first.size()) {
        return false;
      }
      for (int i = 0; i < first.size(); i++) {
        if (!first.get(i).bytes().equals(other.get(i).bytes())) {
          return false;
        }
      }
    }
    return true;
  }

  @Override
  public void close() {
    gradients.forEach(NDArray::close);
    manager.close();
  }
}
