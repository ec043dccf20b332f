package io.regatta.heterworker.dense;

import io.regatta.core.client.GradientCheck;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DensePartition.Part;
import io.regatta.core.model.DenseVariable;
import io.regatta.heterworker.dense.KeptGradients.BatchGradient;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Element;
import io.regatta.protocol.tensor.CutTensor.Role;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The dense values and gradients of one trainer. Its pulls write the values, and each batch is computed on them. A
 * gradient is kept until the push of its step takes it. In a mode that pushes differences, this worker makes the
 * trainer's local steps for the part instead. Variables that are not of the part belong to the trainer: its pushes and
 * the answers of its pulls have them. The model thread calls {@link #withValues} and {@link #keep}, the loop everything
 * else.
 *
 * <p>A trainer sends a batch when its pulls have been answered, and its push when it has the result. So values and
 * gradients are not written while they are read. Replicas that push for themselves are an exception: a batch may read
 * values of which a part is newer, as from shards that apply pushes one after the other.
 */
final class TrainerDense {

  /** The gradient of one push, for all shards. */
  private static final class Merged {
    /** Completes with the gradient; null: the push has none. */
    private final CompletableFuture<DenseMemory> gradient;
    private final boolean bad;
    /** Memory of the gradient, which is used again once all shards have it; null: it has another owner. */
    private final ByteBuffer memory;
    /** The gradient with that of the trainer's own variables; null until a push has added them. */
    private DenseMemory whole;
    private int acknowledged;

    private Merged(CompletableFuture<DenseMemory> gradient, boolean bad, ByteBuffer memory) {
      this.gradient = gradient;
      this.bad = bad;
      this.memory = memory;
    }
  }

  private final JobSpec spec;
  private final TrainerId trainer;
  /** Null if each trainer's gradients go to the servers for themselves. */
  private final GradientSums sums;
  private final Executor merges;
  private final Executor loop;
  private final GradientBuffers buffers;
  private final DensePartition partition;
  private final GradientCheck check;
  private final Map<String, Integer> offsets = new HashMap<>();
  private final ByteBuffer memory;
  private final DenseMemory values;
  private final KeptGradients kept = new KeptGradients();
  /** Null if the mode pushes gradients. */
  private final LocalDense local;
  /** Gradients of pushes by their clock. */
  private final Map<Long, Merged> merged = new HashMap<>();
  /** Names of the part's variables; all until they are known. */
  private Set<String> part;

  /**
   * Creates the state of a trainer without values.
   *
   * @param sums adds its gradients up with those of other trainers; null: each goes to the servers for itself
   * @param merges runs what takes time, one after the other
   * @param loop of the exchange
   */
  TrainerDense(JobSpec spec, TrainerId trainer, GradientSums sums, Executor merges, Executor loop) {
    this.merges = merges;
    this.loop = loop;
    this.spec = spec;
    this.trainer = trainer;
    this.sums = sums;
    partition = spec.partition();
    check = new GradientCheck(spec.model());
    int offset = 0;
    for (DenseVariable variable : spec.model().dense()) {
      offsets.put(variable.name(), offset);
      offset += variable.numel();
    }
    memory = ByteBuffer.allocateDirect(Math.multiplyExact(offset, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    values = DenseMemory.of(memory.duplicate());
    buffers = new GradientBuffers(memory.capacity());
    local = spec.mode().pushesDeltas() ? new LocalDense(spec, trainer.rank()) : null;
    part = Set.copyOf(offsets.keySet());
  }

  JobSpec spec() {
    return spec;
  }

  /** Sets the names of the part's variables. Before the first batch. */
  void part(Set<String> names) {
    part = names;
  }

  /** Returns a shard's part of the values, to be written by a pull. */
  DenseSlice values(int shard) {
    return local != null ? local.server(shard) : values.slice(partition, shard);
  }

  /**
   * Notes that a shard has answered a pull of dense values.
   *
   * @param exchange true if the pull ends an exchange of differences
   * @param shards that have dense values of this trainer
   */
  void pulled(int shard, long version, boolean exchange, int shards) {
    if (local != null) {
      local.pulled(shard, version, exchange, shards);
    }
  }

  /** Returns the trainer's own part of a shard's values, which the answer of its pull has; null: there is none. */
  DenseSlice own(int shard) {
    List<Part> own = ownParts(shard);
    return own.isEmpty() ? null : values(shard).of(own);
  }

  private List<Part> ownParts(int shard) {
    return partition.partsOf(shard).stream().filter(of -> !part.contains(of.variable())).toList();
  }

  /** Returns the batch with the values of the part's parameters. */
  BatchToCompute withValues(BatchToCompute batch) {
    if (local != null) {
      memory.asFloatBuffer().put(local.values(batch.head().getReplicaStepsList(), kept));
    }
    List<TensorData> tensors = new ArrayList<>(batch.tensors());
    for (DenseVariable variable : spec.model().dense()) {
      if (!part.contains(variable.name())) {
        continue;
      }
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
    List<TensorData> gradients = new ArrayList<>();
    List<TensorData> others = new ArrayList<>();
    result.tensors().forEach(data -> (data.tensor().getRole() == Role.DENSE_GRADIENT ? gradients : others).add(data));
    ByteBuffer flat = buffers.take();
    if (gradients.stream().mapToInt(data -> data.bytes().remaining()).sum() < flat.capacity()) { // some are not reached
      clear(flat);
    }
    for (TensorData data : gradients) {
      bytes(flat, data.tensor().getName(), data.bytes().remaining() / Float.BYTES).put(data.bytes().duplicate());
    }
    DenseMemory gradient = DenseMemory.of(flat);
    long step = batch.head().getStep();
    String bad = check.nonFinite(gradient, List.of());
    if (bad != null && (spec.nanPolicy() == NanPolicy.FAIL || result.head().getGathered())) { // perhaps another's
      buffers.giveBack(flat);
      throw new InvalidInput("push of step " + step + " of trainer " + batch.id().trainer().rank() + " of job "
          + spec.job()
          + " refused before it was sent: " + bad
          + "; lower the learning rate, clip gradients, or set the NaN policy to skip");
    }
    kept.add(new BatchGradient(batch.id().replica(), step, batch.head().getExamples(), gradient, bad, flat))
        .ifPresent(former -> buffers.giveBack(former.memory()));
    return new ComputedBatch(result.id(), result.head(), others);
  }

  private static void clear(ByteBuffer flat) {
    while (flat.remaining() >= Long.BYTES) {
      flat.putLong(0);
    }
    while (flat.hasRemaining()) {
      flat.put((byte) 0);
    }
    flat.clear();
  }

  /**
   * Returns a push of this trainer to a shard with the shard's part of the dense gradient, or difference. Fails if the
   * gradients cannot be added up.
   */
  CompletionStage<Push> withGradient(Push push, int shard) {
    Contributor me = push.contributors().get(0);
    if (me.weight() == 0 && sums == null) { // also what the trainer has dropped because of its rows
      kept.take(steps(me.progress())).forEach(dropped -> buffers.giveBack(dropped.memory()));
      return CompletableFuture.completedFuture(empty(push, push.sparse()));
    }
    Merged of = merged.computeIfAbsent(push.step(), step -> merge(me, step));
    return of.gradient.thenApply(gradient -> of.bad || me.weight() == 0 ? empty(push, of.bad ? List.of()
        : push.sparse())
        : whole(push, shard, of, gradient));
  }

  /** Returns the push without dense elements and without weight. */
  private static Push empty(Push push, List<SparseRows> rows) {
    release(push);
    Contributor me = push.contributors().get(0);
    return new Push(List.of(new Contributor(me.rank(), me.incarnation(), me.sequence(), 0, me.progress())), push.step(),
        push.version(), null, rows, push.finite() || rows.isEmpty());
  }

  private Push whole(Push push, int shard, Merged of, DenseMemory gradient) {
    of.whole = of.whole == null ? gradient : of.whole;
    if (push.dense() != null) {
      add(push, shard, of);
    }
    boolean hasDense = of.whole != null && partition.sizeOf(shard) > 0;
    return new Push(push.contributors(), push.step(), push.version(), hasDense ? of.whole.slice(partition, shard)
        : null,
        push.sparse(), push.finite());
  }

  /** Adds the gradient of the trainer's own variables to that of the part's. */
  private void add(Push push, int shard, Merged of) {
    List<Part> own = ownParts(shard);
    int size = own.stream().mapToInt(Part::size).sum();
    if (push.dense().size() != size) {
      throw new InvalidInput("a push of trainer " + trainer.rank() + " of job " + spec.job() + " has "
          + push.dense().size() + " dense elements for shard " + shard + ", where it has " + size
          + " of its own; start all processes with the same job and program");
    }
    if (of.whole == null) {
      of.whole = DenseMemory.of(new float[partition.numel()]);
    }
    of.whole.slice(partition, shard).of(own).write(push.dense());
    release(push);
  }

  private static void release(Push push) {
    if (push.dense() != null) {
      push.dense().release();
    }
  }

  /** Notes that a shard has the push of that clock; returns true if it was dropped for NaN. */
  boolean acknowledged(long clock, int shards) {
    Merged of = merged.get(clock);
    if (of == null) {
      return false;
    }
    if (++of.acknowledged == shards) {
      merged.remove(clock);
      buffers.giveBack(of.memory);
    }
    return of.bad;
  }

  private static List<Long> steps(TrainerProgress progress) {
    return progress.replicas().stream().map(TrainerProgress.Replica::localSteps).toList();
  }

  private Merged merge(Contributor me, long step) {
    List<Long> steps = steps(me.progress());
    if (local != null) {
      return new Merged(CompletableFuture.completedFuture(local.delta(steps, kept)), false, null);
    }
    List<BatchGradient> of = kept.take(steps);
    boolean bad = of.stream().anyMatch(one -> one.bad() != null);
    boolean counts = !bad && me.weight() > 0;
    if (of.isEmpty() || !counts) {
      of.forEach(dropped -> buffers.giveBack(dropped.memory()));
      return new Merged(sums == null ? CompletableFuture.completedFuture(null)
          : summed(step, counts ? me.weight() : 0, null), bad, null);
    }
    if (sums == null && of.size() == 1 && spec.model().denseOptimizer().clipNorm() == 0) {
      return new Merged(CompletableFuture.completedFuture(of.get(0).gradient()), false, of.get(0).memory());
    }
    if (sums == null) {
      return new Merged(aside(() -> merged(of)), false, null);
    }
    return new Merged(aside(() -> ofPart(merged(of))).thenCompose(own -> summed(step, me.weight(), own)), false, null);
  }

  /** Returns the clipped gradient of one push in memory of its own; gives the memory of its parts back. */
  private DenseMemory merged(List<BatchGradient> of) {
    DenseMemory gradient = check.clipDense(KeptGradients.merged(of));
    if (gradient == of.get(0).gradient()) {
      return gradient;
    }
    of.forEach(part -> buffers.giveBack(part.memory()));
    return gradient;
  }

  /** Returns the sum over all trainers. On the loop, as its completion. */
  private CompletableFuture<DenseMemory> summed(long step, double weight, float[] own) {
    return sums.add(trainer, step, weight, own).thenApplyAsync(this::flat, merges)
        .thenApplyAsync(Function.identity(), loop);
  }

  /** Computes what takes time; completes on the loop. */
  private <T> CompletableFuture<T> aside(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, merges).thenApplyAsync(Function.identity(), loop);
  }

  /** Returns the elements of the part's variables; null for null. */
  private float[] ofPart(DenseMemory gradient) {
    return gradient == null ? null : gradient.slice(partition, 0).of(places()).toArray();
  }

  /** Returns a flat vector with these elements of the part's variables; null for null. */
  private DenseMemory flat(float[] ofPart) {
    if (ofPart == null) {
      return null;
    }
    DenseMemory flat = DenseMemory.of(new float[partition.numel()]);
    flat.slice(partition, 0).of(places()).write(DenseMemory.of(ofPart));
    return flat;
  }

  /** Returns the places of the part's variables in the flat vector, in its order. */
  private List<Part> places() {
    return partition.parts().stream().filter(of -> part.contains(of.variable()))
        .sorted(Comparator.comparingInt(Part::flatOffset)).toList();
  }
}
