package io.regatta.training.heter.part;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.GradientCollector;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.CutSignatures;
import io.regatta.training.heter.HeadGradients;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.model.Engines;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.strategy.TrainerStrategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trainer's network whose part after the cut heter workers compute. A forward pass sends the inputs of the cut and
 * the labels away. The backward pass begins with the gradients that return. Belongs to a model thread.
 */
final class RemotePart implements CutNetwork {

  /** Beginning of the names of labels that the network itself takes. */
  static final String NETWORK_LABEL = "network label";

  private static final Logger LOG = LoggerFactory.getLogger(RemotePart.class);
  /** Greatest difference of the loss at the program and at the heter worker, relative to losses above 1. */
  private static final double LOSS_TOLERANCE = 1e-3;

  /** A result whose gradients have not been taken yet; {@code heads} has null where no gradient is asked for. */
  private record Pending(ComputedBatch result, List<NDArray> heads, NDManager manager) {}

  private final NetworkCut cut;
  private final Loss ownLoss;
  private final RemoteLoss remoteLoss;
  private final ReplicaContext replica;
  private final TrainerSession session;
  private final RemoteCompute remote;
  private final StepTimes times;
  private final LongSupplier step;
  private final ReplicaSeeds seeds;
  /** Memory of batches, used in turn: some may still be needed when the next one is sent. */
  private final List<Tensors> messages = new ArrayList<>();
  /** True if dense values go with each batch, and gradients come back with its result. */
  private final boolean carriesDense;
  private long number;
  private final CutSignature own;
  /** True if a batch says which local steps are in the values that it is computed on. */
  private final boolean saysSteps;
  /** Inputs and labels of the first batch; null before it. */
  private List<CutTensor> first;
  /** Whether the engine has recorded each input, so that it has a gradient; decided in the first pass. */
  private boolean[] recorded;
  private boolean collecting;
  private boolean computed;
  private Pending pending;
  private Pass pass;

  RemotePart(NetworkCut cut, Shape[] shapes, Loss loss, ReplicaContext replica, TrainerStrategy strategy,
      StepTimes times,
      LongSupplier step, ReplicaSeeds seeds) {
    this.cut = cut;
    ownLoss = loss;
    this.replica = replica;
    this.times = times;
    this.step = step;
    this.seeds = seeds;
    session = replica.session();
    remote = session.remote().orElseThrow();
    remoteLoss = new RemoteLoss(loss, this);
    carriesDense = !session.isDenseElsewhere();
    boolean local = strategy.mode().pushesDeltas();
    saysSteps = !carriesDense && local;
    int unacknowledged = carriesDense || local ? 1 : strategy.stepsPerPush() + (strategy.overlap() ? 1 : 0);
    for (int i = 0; i < unacknowledged; i++) {
      messages.add(new Tensors());
    }
    own = cut.signature(shapes);
    open();
    if (cut.kind() == NetworkCut.Kind.MARKED) {
      cut.marked().attach(this::marked);
    }
  }

  /** Agrees with the heter workers on what crosses the cut. */
  private void open() {
    JobConfig job = session.job();
    session.await("opening of the cut at " + remote.worker(), remote.open(CutOpen.newBuilder().setSignature(own)
        .setProgram(job.program()).setSeed(job.seed()).setReplica(replica.replica()).build()));
    if (replica.replica() == 0 && session.trainer().rank() == 0) {
      LOG.info("{}", CutSignatures.describe(job, own));
    }
  }

  @Override
  public boolean isHere(String variable) {
    return carriesDense || !cut.trained().containsKey(variable);
  }

  private String where() {
    return "trainer " + session.trainer().rank() + " of job " + session.job().job() + ", step " + step.getAsLong()
        + ": ";
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public Loss loss(Loss own) {
    return cut.kind() == NetworkCut.Kind.LOSS ? remoteLoss : own;
  }

  @Override
  public GradientCollector collector(GradientCollector engine) {
    collecting = true;
    computed = false;
    pending = null;
    return new CutCollector(engine, this);
  }

  /** Ends a pass, with its collector. */
  void collected() {
    collecting = false;
    pending = null;
    pass = null;
  }

  @Override
  public NDList forward(Pass forward, Supplier<NDList> here) {
    pass = forward;
    seeds.set(cut.kind() == NetworkCut.Kind.MARKED ? BatchSeed.PassPhase.BEFORE : BatchSeed.PassPhase.PART);
    if (!collecting) {
      return here.get();
    }
    if (cut.kind() == NetworkCut.Kind.WHOLE) {
      return compute(forward.data(), forward.labels() == null ? forward.ofBatch() : forward.labels(),
          forward.labels() != null);
    }
    boolean before = computed;
    NDList outputs = here.get();
    if (cut.kind() == NetworkCut.Kind.MARKED && computed == before) {
      throw new InvalidInput(where() + "the forward pass of the network has not used the block that is marked with "
          + "Heter.remote; use it "
          + "in every training pass");
    }
    return outputs;
  }

  /** Computes the marked block. */
  private NDList marked(NDList inputs, Supplier<NDList> here) {
    if (!collecting) { // a training pass without gradients
      seeds.set(BatchSeed.PassPhase.PART);
      NDList outputs = here.get();
      seeds.set(BatchSeed.PassPhase.AFTER);
      return outputs;
    }
    NDList outputs = compute(inputs, pass.ofBatch(), false);
    seeds.set(BatchSeed.PassPhase.AFTER);
    return outputs;
  }

  /** Returns the loss of predictions, as a constant; empty if they belong to no training pass. */
  NDArray loss(NDList labels, NDList predictions) {
    if (!collecting) {
      return ownLoss.evaluate(labels, predictions);
    }
    compute(predictions, labels, false);
    return pending.manager().create((float) pending.result().head().getLoss());
  }

  /** Sends a batch away and returns the outputs of its result. */
  private NDList compute(NDList inputs, NDList labels, boolean ofNetwork) {
    if (computed) {
      throw new InvalidInput(where() + "the step accumulates gradients over several forward passes, which a network "
          + "that is cut cannot; "
          + "make one step for each");
    }
    if (labels == null) {
      throw new InvalidInput(where() + "the labels of this batch are not known here, but the heter worker computes "
          + "the loss; take batches "
          + "from trainer.iterateDataset, or call trainer.forward(data, labels)");
    }
    computed = true;
    NDManager manager = inputs.head().getManager();
    List<NDArray> heads = heads(inputs);
    List<TensorData> tensors = pack(inputs, heads, labels, ofNetwork);
    BatchToCompute batch = batch(inputs, tensors);
    check(batch);
    long begin = times.clock().nanos();
    ComputedBatch result = session.await("result of batch " + number + " from " + remote.worker(),
        remote.compute(batch));
    times.span("heter worker: send, compute, "
        + "receive", begin, Map.of("waited_us", result.head().getWaitedNs() / 1000, "computed_us",
        result.head().getComputedNs() / 1000));
    for (TensorData data : Tensors.of(result.tensors(), Role.FROZEN)) {
      Tensors.set(parameter(cut.frozen(), data).getArray(), data);
    }
    pending = new Pending(result, heads, manager);
    NDList outputs = new NDList();
    Tensors.of(result.tensors(), Role.OUTPUT).forEach(data -> outputs.add(Tensors.create(manager, data)));
    return outputs;
  }

  private BatchToCompute batch(NDList inputs, List<TensorData> tensors) {
    BatchId id = new BatchId(session.trainer(), replica.replica(), ++number);
    boolean together = session.client().map(client -> client.job().mode().hasRounds()).orElse(false);
    CutBatch head = CutBatch.newBuilder().setReplica(id.replica()).setNumber(id.number()).setStep(step.getAsLong())
        .setValuesOf(together ? step.getAsLong()
            : -1).setExamples(Math.toIntExact(inputs.head().getShape().get(0)))
        .addAllReplicaSteps(saysSteps ? replica.group().steps().stepsByReplica() : List.of()).build();
    return new BatchToCompute(id, head, tensors);
  }

  /** Returns the inputs that the engine has recorded, and null for each other one. */
  private List<NDArray> heads(NDList inputs) {
    if (recorded == null || recorded.length != inputs.size()) {
      recorded = new boolean[inputs.size()];
      for (int i = 0; i < recorded.length; i++) {
        recorded[i] = cut.kind() != NetworkCut.Kind.WHOLE && HeadGradients.isRecorded(inputs.get(i));
      }
    }
    List<NDArray> heads = new ArrayList<>();
    for (int i = 0; i < recorded.length; i++) {
      heads.add(recorded[i] ? HeadGradients.head(inputs.get(i)) : null);
    }
    return heads;
  }

  private List<TensorData> pack(NDList inputs, List<NDArray> heads, NDList labels, boolean ofNetwork) {
    Tensors message = messages.get((int) (number % messages.size()));
    for (int i = 0; i < inputs.size(); i++) {
      message.add(Role.INPUT, "input " + i, inputs.get(i), heads.get(i) != null);
    }
    for (int i = 0; i < labels.size(); i++) {
      message.add(Role.LABEL, (ofNetwork ? NETWORK_LABEL : "label") + " " + i, labels.get(i), false);
    }
    cut.frozen().forEach((name, parameter) -> message.add(Role.FROZEN, name, parameter.getArray(), false));
    if (carriesDense) {
      cut.trained().forEach((name, parameter) -> message.add(Role.DENSE_VALUES, name, parameter.getArray(), false));
    }
    return message.take();
  }

  /** Compares a batch with what was agreed on, and with the first one. */
  private void check(BatchToCompute batch) {
    JobConfig job = session.job();
    List<CutTensor> crossing = CutSignatures.crossing(batch);
    if (first == null) {
      CutSignatures.checkFirst(job, own, crossing, "trainer " + session.trainer().rank());
      first = crossing;
      if (replica.replica() == 0 && session.trainer().rank() == 0) {
        long out = batch.tensors().stream().mapToLong(data -> data.bytes().remaining()).sum();
        LOG.info("the first batch of job {} across the cut: {}; {} bytes out for {} examples", job.job(),
            CutSignatures.describe(crossing), out, batch.head().getExamples());
      }
    } else if (!isSame(crossing)) {
      CutSignatures.same(job, first, crossing, "trainer " + session.trainer().rank() + " in its step "
          + step.getAsLong());
    }
  }

  /** Returns true if the tensors are those of the first batch, but for their first dimension. */
  private boolean isSame(List<CutTensor> crossing) {
    List<CutTensor> known = first;
    if (known.size() != crossing.size()) {
      return false;
    }
    for (int i = 0; i < known.size(); i++) {
      CutTensor a = known.get(i);
      CutTensor b = crossing.get(i);
      int dimensions = a.getShapeCount();
      if (a.getElement() != b.getElement() || dimensions != b.getShapeCount() || dimensions > 1
          && !a.getShapeList().subList(1, dimensions).equals(b.getShapeList().subList(1, dimensions))) {
        return false;
      }
    }
    return true;
  }

  private Parameter parameter(Map<String, Parameter> of, TensorData data) {
    Parameter parameter = of.get(data.tensor().getName());
    if (parameter == null) {
      throw new InvalidInput(where() + "the heter worker answered for a parameter " + data.tensor().getName()
          + ", which the part after "
          + "the cut does not have here; start all processes with the same job and program");
    }
    return parameter;
  }

  /**
   * Runs the backward pass from the cut on, if the program's loss is the heter worker's.
   *
   * @param engine the collector that has recorded what precedes the cut
   */
  void backward(GradientCollector engine, NDArray loss) {
    if (pending == null) {
      throw new InvalidInput(where() + (cut.kind() == NetworkCut.Kind.LOSS
          ? "heter.part: loss needs the loss of trainer.getLoss(); evaluate that"
          : "backward has no forward pass before it that a heter worker has computed; call trainer.forward, then "
          + "backward once"));
    }
    Pending of = pending;
    pending = null;
    compare(of.result(), loss);
    List<NDArray> heads = new ArrayList<>();
    List<NDArray> gradients = new ArrayList<>();
    List<TensorData> ofInputs = Tensors.of(of.result().tensors(), Role.INPUT_GRADIENT);
    int next = 0;
    int first = 0; // where the heads begin that the block uses
    for (int i = 0; i < of.heads().size(); i++) {
      NDArray head = of.heads().get(i);
      if (head == null) {
        continue;
      }
      if (next == ofInputs.size()) {
        throw new InvalidInput(where() + "the result of " + remote.worker() + " has " + next
            + " gradients, fewer than were asked for");
      }
      // Engines add gradients in the order of heads; this is their order in one piece.
      int at = cut.isOfBlock(i) ? heads.size() : first++;
      heads.add(at, head);
      gradients.add(at, Tensors.create(of.manager(), ofInputs.get(next++)));
    }
    List<TensorData> ofParameters = Tensors.of(of.result().tensors(), Role.DENSE_GRADIENT);
    boolean mxnet = Engines.isMxnet(Engine.getInstance());
    if (!mxnet) { // an engine in which a parameter's gradient cannot be set; each is a head of its own
      for (TensorData data : ofParameters) {
        heads.add(parameter(cut.trained(), data).getArray());
        gradients.add(Tensors.create(of.manager(), data));
      }
    }
    if (!heads.isEmpty()) {
      HeadGradients.backward(engine, heads, gradients);
    }
    if (mxnet) {
      for (TensorData data : ofParameters) {
        HeadGradients.set(parameter(cut.trained(), data).getArray(), Tensors.bytes(data).asFloatBuffer());
      }
    }
  }

  private void compare(ComputedBatch result, NDArray loss) {
    double theirs = result.head().getLoss();
    if (result.head().getGathered()) {
      return; // it is the mean over others' examples, too
    }
    double own = Means.of(loss);
    boolean same = Double.isNaN(own) ? Double.isNaN(theirs)
        : own == theirs || Math.abs(own - theirs) <= LOSS_TOLERANCE * Math.max(1, Math.abs(own));
    if (!same) {
      throw new InvalidInput(where() + "the loss of the backward pass is " + own + ", but the heter worker's is "
          + theirs
          + "; it computes the loss of the TrainingConfig, so give that one to backward, as it is");
    }
  }

  @Override
  public void close() {
    if (cut.kind() == NetworkCut.Kind.MARKED) {
      cut.marked().detach();
    }
  }
}
