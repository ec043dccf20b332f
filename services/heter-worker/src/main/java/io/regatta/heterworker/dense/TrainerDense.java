package io.regatta.heterworker.dense;

import io.regatta.core.client.GradientCheck;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Element;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.replica.Gradients;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The dense values and gradients of one trainer. Its pulls write the values, and each batch is computed on them. A
 * gradient is kept until the push of its step takes it. The model thread calls {@link #withValues} and {@link #keep},
 * the loop everything else.
 *
 * <p>A trainer sends a batch when its pulls have been answered, and its push when it has the result. So values and
 * gradients are not written while they are read. Replicas that push for themselves are an exception: a batch may read
 * values of which a part is newer, as from shards that apply pushes one after the other.
 */
final class TrainerDense {

  /**
   * A gradient that no push has taken.
   *
   * @param step local step of the replica
   * @param bad place of the first NaN or infinity, in words; null: there is none
   */
  private record Kept(long step, double examples, DenseMemory gradient, String bad) {}

  /** The gradient of one push, for all shards. */
  private static final class Merged {
    private final DenseMemory gradient;
    private final boolean bad;
    private int acknowledged;

    private Merged(DenseMemory gradient, boolean bad) {
      this.gradient = gradient;
      this.bad = bad;
    }
  }

  private final JobSpec spec;
  private final DensePartition partition;
  private final GradientCheck check;
  private final Map<String, Integer> offsets = new HashMap<>();
  private final ByteBuffer memory;
  private final DenseMemory values;
  /** Gradients by replica. */
  private final SortedMap<Integer, Kept> kept = new ConcurrentSkipListMap<>();
  /** Gradients of pushes by their clock. */
  private final Map<Long, Merged> merged = new HashMap<>();

  TrainerDense(JobSpec spec) {
    this.spec = spec;
    partition = spec.partition();
    check = new GradientCheck(spec.model());
    int offset = 0;
    for (DenseVariable variable : spec.model().dense()) {
      offsets.put(variable.name(), offset);
      offset += variable.numel();
    }
    memory = ByteBuffer.allocateDirect(Math.multiplyExact(offset, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    values = DenseMemory.of(memory.duplicate());
  }

  JobSpec spec() {
    return spec;
  }

  /** Returns a shard's part of the values, to be written by a pull. */
  DenseSlice values(int shard) {
    return values.slice(partition, shard);
  }

  /** Returns the batch with the values of the part's parameters. */
  BatchToCompute withValues(BatchToCompute batch) {
    List<TensorData> tensors = new ArrayList<>(batch.tensors());
    for (DenseVariable variable : spec.model().dense()) {
      CutTensor.Builder tensor = CutTensor.newBuilder().setRole(Role.DENSE_VALUES).setName(variable.name())
          .setElement(Element.FLOAT32);
      variable.shape().forEach(tensor::addShape);
      tensors.add(new TensorData(tensor.build(), bytes(memory, variable.name(), variable.numel())));
    }
    return new BatchToCompute(batch.id(), batch.head(), tensors);
  }

  private ByteBuffer bytes(ByteBuffer flat, String variable, int numel) {
    Integer offset = offsets.get(variable);
    if (offset == null) {
      throw new InvalidInput("job " + spec.job() + ": the part after the cut has a parameter " + variable + ", which the trainer's "
          + "model does not have; start all processes with the same job and program");
    }
    return flat.slice(offset * Float.BYTES, numel * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Takes the gradient out of a result, and keeps it for the push of the batch's step.
   *
   * @return the result without it
   * @throws InvalidInput if it has NaN or infinity, and the job's policy is to fail, or a parameter that the trainer has not
   */
  ComputedBatch keep(BatchToCompute batch, ComputedBatch result) {
    ByteBuffer flat = ByteBuffer.allocateDirect(memory.capacity()).order(ByteOrder.LITTLE_ENDIAN);
    List<TensorData> others = new ArrayList<>();
    for (TensorData data : result.tensors()) {
      if (data.tensor().getRole() == Role.DENSE_GRADIENT) {
        bytes(flat, data.tensor().getName(), data.bytes().remaining() / Float.BYTES).put(data.bytes().duplicate());
      } else {
        others.add(data);
      }
    }
    DenseMemory gradient = DenseMemory.of(flat);
    long step = batch.head().getStep();
    String bad = check.nonFinite(gradient, List.of());
    if (bad != null && spec.nanPolicy() == NanPolicy.FAIL) {
      throw new InvalidInput("push of step " + step + " of trainer " + batch.id().trainer().rank() + " of job "
          + spec.job()
          + " refused before it was sent: " + bad
          + "; lower the learning rate, clip gradients, or set the NaN policy to skip");
    }
    kept.put(batch.id().replica(), new Kept(step, batch.head().getExamples(), gradient, bad));
    return new ComputedBatch(result.id(), result.head(), others);
  }

  /** Returns a push of this trainer to a shard with the shard's part of the dense gradient. */
  Push withGradient(Push push, int shard) {
    Contributor me = push.contributors().get(0);
    if (me.weight() == 0) { // also what the trainer has dropped because of its rows
      take(me.progress());
      return push;
    }
    Merged of = merged.computeIfAbsent(push.step(), step -> merge(take(me.progress())));
    if (of.bad) {
      return new Push(List.of(new Contributor(me.rank(), me.incarnation(), me.sequence(), 0, me.progress())),
          push.step(),
          push.version(), null, List.of(), true);
    }
    boolean hasDense = of.gradient != null && partition.sizeOf(shard) > 0;
    return new Push(push.contributors(), push.step(), push.version(), hasDense ? of.gradient.slice(partition, shard)
        : null,
        push.sparse(), push.finite());
  }

  /** Notes that a shard has the push of that clock; returns true if it was dropped for NaN. */
  boolean acknowledged(long clock, int shards) {
    Merged of = merged.get(clock);
    if (of == null) {
      return false;
    }
    if (++of.acknowledged == shards) {
      merged.remove(clock);
    }
    return of.bad;
  }

  /** Takes the gradients that belong to this progress, by replica. */
  private List<Kept> take(TrainerProgress progress) {
    List<Kept> taken = new ArrayList<>();
    kept.forEach((replica, of) -> {
      List<TrainerProgress.Replica> replicas = progress.replicas();
      if (replica >= replicas.size() || of.step() < replicas.get(replica).localSteps()) {
        kept.remove(replica, of);
        taken.add(of);
      }
    });
    return taken;
  }

  private Merged merge(List<Kept> of) {
    if (of.isEmpty()) {
      return new Merged(null, false);
    }
    if (of.stream().anyMatch(one -> one.bad() != null)) {
      return new Merged(null, true);
    }
    DenseMemory whole = Gradients.merge(of.stream().map(one -> new Gradients(one.examples(), one.gradient(), List.of()))
        .toList()).dense();
    return new Merged(check.clipDense(whole), false);
  }
}
