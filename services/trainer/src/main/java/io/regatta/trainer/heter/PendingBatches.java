package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The batches of a rank that have no result, in the order in which model threads gave them. Each is at one heter worker
 * at most. Owned by the loop of {@link HeterWorkers}.
 */
final class PendingBatches {

  /** The owner of the batches. */
  interface Owner {

    /** Returns the versions of the dense values at the home, if it has them. */
    long[] versions();

    /** Notes that a batch has a result. Its model thread gets it next. */
    void computed(Pending batch, ComputedBatch result);

    /** Notes that a worker has room for another batch. */
    void hasRoom();

    /** Notes that a worker is lost or full. The owner takes its batches back. */
    void lost(HeterWorker worker, RegattaException why);
  }

  /** A batch without a result. */
  static final class Pending {
    final long sinceNanos;
    private final CompletableFuture<ComputedBatch> result;
    private final BatchToCompute batch;
    /** Versions of the dense values that it is computed on. */
    private long[] versions;
    /** Null while no worker has it. */
    private HeterWorker worker;

    private Pending(BatchToCompute batch, CompletableFuture<ComputedBatch> result, long sinceNanos) {
      this.batch = batch;
      this.result = result;
      this.sinceNanos = sinceNanos;
    }

    BatchToCompute batch() {
      return batch;
    }

    long[] versions() {
      return versions;
    }
  }

  private final Clock clock;
  private final HeterCounts counts;
  private final Owner owner;
  private final Map<BatchId, Pending> batches = new LinkedHashMap<>();

  PendingBatches(Clock clock, HeterCounts counts, Owner owner) {
    this.clock = clock;
    this.counts = counts;
    this.owner = owner;
  }

  boolean isEmpty() {
    return batches.isEmpty();
  }

  /** Adds a batch that no worker has. */
  void add(BatchToCompute batch, CompletableFuture<ComputedBatch> result) {
    batches.put(batch.id(), new Pending(batch, result, clock.nanos()));
  }

  /** Sends the batches that no worker has to this one, as long as it has room for requests. */
  void sendTo(HeterWorker worker) {
    for (Pending batch : List.copyOf(batches.values())) {
      if (!worker.link.hasRoom()) {
        return; // an answer makes room
      }
      if (batch.worker == null && batches.containsKey(batch.batch.id())) {
        send(batch, worker);
      }
    }
  }

  private void send(Pending batch, HeterWorker to) {
    batch.worker = to;
    batch.versions = owner.versions();
    counts.bytesOut.add(bytes(batch.batch.tensors()));
    to.link.compute(batch.batch).whenComplete((result, error) -> {
      if (batch.worker != to) { // another one has it
        return;
      }
      if (error == null) {
        answered(batch, result);
        return;
      }
      RegattaException why = ErrorMapping.regatta(error);
      if (HeterWorker.isTemporary(why)) {
        owner.lost(to, why);
      } else {
        batches.remove(batch.batch.id());
        batch.result.completeExceptionally(why);
      }
    });
  }

  private void answered(Pending batch, ComputedBatch result) {
    batches.remove(batch.batch.id());
    counts.batches.increment();
    counts.bytesIn.add(bytes(result.tensors()));
    counts.waitNanos.add(clock.nanos() - batch.sinceNanos);
    owner.computed(batch, result);
    batch.result.complete(result);
    if (batches.values().stream().anyMatch(other -> other.worker == null)) {
      owner.hasRoom();
    }
  }

  /** Takes the batches of a worker back, to be sent to another one; returns how many. */
  int takeBack(HeterWorker worker) {
    List<Pending> given = batches.values().stream().filter(batch -> batch.worker == worker).toList();
    given.forEach(batch -> batch.worker = null);
    counts.again.add(given.size());
    return given.size();
  }

  /** Fails all batches. */
  void fail(RegattaException why) {
    List<Pending> given = List.copyOf(batches.values());
    batches.clear();
    given.forEach(batch -> batch.result.completeExceptionally(why));
  }

  static long bytes(List<TensorData> tensors) {
    return tensors.stream().mapToLong(data -> data.bytes().remaining()).sum();
  }
}
