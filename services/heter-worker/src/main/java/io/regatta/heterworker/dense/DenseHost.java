package io.regatta.heterworker.dense;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.heter.PartHost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * A host of batches that gives those of trainers whose dense parameters this worker has their values, and keeps their
 * gradients. The model thread so computes all batches alike. Any thread may use it; the model thread does.
 */
public final class DenseHost implements PartHost {
  private final PartHost queue;
  private final DenseExchange exchange;
  /** Works of a batch each, of which one is of an unknown trainer. Used by the model thread alone. */
  private final ArrayDeque<PartWork> alone = new ArrayDeque<>();
  private final boolean required;

  /**
   * Creates a host.
   *
   * @param queue source of the batches
   * @param required true if every trainer has its dense parameters here; a batch of another one is refused
   */
  public DenseHost(PartHost queue, DenseExchange exchange, boolean required) {
    this.queue = queue;
    this.exchange = exchange;
    this.required = required;
  }

  @Override
  public CompletionStage<Void> wanted() {
    return queue.wanted();
  }

  @Override
  public void ready(CutSignature own, boolean gatherable) {
    exchange.part(new DenseExchange.Part(own.getTensorsList().stream().filter(tensor ->
        tensor.getRole() == Role.DENSE_VALUES)
        .map(CutTensor::getName).collect(Collectors.toUnmodifiableSet()), Math.toIntExact(own.getDense())));
    queue.ready(own, gatherable);
  }

  @Override
  public CompletionStage<Optional<PartWork>> next() {
    PartWork first = alone.poll();
    return first != null ? checked(first) : queue.next().thenCompose(next -> next.map(this::checked)
        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
  }

  /** Returns a work if all of its trainers are known; refuses a batch of another trainer, and returns the next work. */
  private CompletionStage<Optional<PartWork>> checked(PartWork work) {
    Optional<BatchId> unknown = !required ? Optional.empty() : work.batches().stream().map(BatchToCompute::id)
        .filter(id -> exchange.of(id.trainer()).isEmpty()).findFirst();
    if (unknown.isEmpty()) {
      return CompletableFuture.completedFuture(Optional.of(withDense(work)));
    }
    if (work.batches().size() > 1) { // the others are computed
      alone.addAll(work.alone().get());
    } else {
      work.refused().accept(new InvalidInput("trainer " + unknown.get().trainer().rank()
          + " has not registered its shards at this heter worker, which has no dense values for its batch; give all "
          + "processes the same heter.dense"));
    }
    return next();
  }

  private PartWork withDense(PartWork work) {
    List<Optional<TrainerDense>> dense = work.batches().stream().map(batch -> exchange.of(batch.id().trainer()))
        .toList();
    if (dense.stream().allMatch(Optional::isEmpty)) {
      return work;
    }
    List<BatchToCompute> batches = new ArrayList<>();
    for (int i = 0; i < dense.size(); i++) {
      BatchToCompute batch = work.batches().get(i);
      batches.add(dense.get(i).map(of -> of.withValues(batch)).orElse(batch));
    }
    return new PartWork(batches, results -> {
      List<ComputedBatch> without = new ArrayList<>();
      for (int i = 0; i < dense.size(); i++) {
        BatchToCompute batch = work.batches().get(i);
        ComputedBatch result = results.get(i);
        without.add(dense.get(i).map(of -> of.keep(batch, result)).orElse(result));
      }
      work.done().accept(without);
    }, work.refused(), () -> work.alone().get().stream().map(this::withDense).toList());
  }
}
