package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchToCompute;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The state that a rank has at its home if heter workers pull and push its dense parameters: streams to shards, dense
 * values, and gradients that no push has taken. When the home is lost, another one gets it: the values are pulled for
 * the same step, and the batches of which the gradients are missing are computed again. Owned by the loop of {@link
 * HeterWorkers}.
 */
final class HomeState {

  /**
   * A batch whose gradient is at the home.
   *
   * @param versions of the shards' values that it was computed on
   */
  private record UnpushedBatch(BatchToCompute batch, long[] versions) {

    long step() {
      return batch.head().getStep();
    }
  }

  private record Key(int replica, long step) {}

  private final List<HeterShardLink> links = new ArrayList<>();
  /** Batches that have been computed, and whose push not every shard has acknowledged. */
  private final Map<Key, UnpushedBatch> owed = new TreeMap<>(Comparator.comparingInt(Key::replica).thenComparingLong(Key::step));
  /** Acknowledgements of pushes that not every shard has acknowledged, by clock. */
  private final Map<Long, Integer> acknowledged = new HashMap<>();
  private boolean beyondRepair;

  void add(HeterShardLink link) {
    links.add(link);
  }

  /** Returns true if all links lead through this worker. */
  boolean isAt(Directory.Instance home) {
    return links.stream().allMatch(link -> link.isAt(home));
  }

  /** Returns the versions of the values at the home. */
  long[] versions() {
    return links.stream().mapToLong(HeterShardLink::version).toArray();
  }

  /** Notes that a batch has been computed, on values of these versions; its memory stays as it is until its push. */
  void computed(BatchToCompute batch, long[] versions) {
    if (links.stream().anyMatch(HeterShardLink::owesGradients)) {
      owed.put(new Key(batch.id().replica(), batch.head().getStep()), new UnpushedBatch(batch, versions));
    }
  }

  /** Notes that a shard has acknowledged a push. */
  void acknowledged(Push push) {
    if (acknowledged.merge(push.step(), 1, Integer::sum) < links.size()) {
      return;
    }
    acknowledged.remove(push.step());
    List<TrainerProgress.Replica> replicas = push.contributors().get(0).progress().replicas();
    owed.keySet().removeIf(of -> of.replica() >= replicas.size()
        || of.step() < replicas.get(of.replica()).localSteps());
  }

  /**
   * Brings the state to another home.
   *
   * @param again computes a batch there
   * @return fails with {@link PeerLost} if that home is lost, too, or if the gradients cannot be computed as before
   */
  Future<Void> moveTo(Directory.Instance home, Function<BatchToCompute, Future<?>> again) {
    List<Future<Long>> versions = links.stream().map(link -> link.reopen(home)).toList();
    return Future.all(versions).compose(all -> {
      long[] now = all.<Long>list().stream().mapToLong(Long::longValue).toArray();
      Future<?> computed = Future.succeededFuture();
      for (UnpushedBatch of : List.copyOf(owed.values())) { // one after the other: a worker holds one batch of a replica
        if (isToBeComputed(of, now)) {
          computed = computed.compose(v -> again.apply(of.batch));
        }
      }
      return computed;
    }).onSuccess(v -> links.forEach(HeterShardLink::resume)).mapEmpty();
  }

  /**
   * Returns true if a gradient is still needed. With rounds, a shard's values change with this trainer's push only.
   *
   * @throws PeerLost if some shards have the push and others need a gradient of values that are no more
   */
  private boolean isToBeComputed(UnpushedBatch of, long[] now) {
    if (links.stream().noneMatch(HeterShardLink::hasRounds)) {
      return true;
    }
    int newer = 0;
    int dense = 0;
    for (int i = 0; i < now.length; i++) {
      if (links.get(i).version() >= 0) {
        dense++;
        newer += now[i] == of.versions[i] ? 0 : 1;
      }
    }
    if (newer > 0 && newer < dense) {
      beyondRepair = true;
      long step = of.step();
      throw new PeerLost(newer + " of " + dense + " shards have this trainer's push of step " + step
          + ", and the gradient for the others is lost with its heter worker; "
          + "start the job again from its last snapshot");
    }
    return newer == 0;
  }

  /** Returns true if no home can have the state any more. */
  boolean isBeyondRepair() {
    return beyondRepair;
  }

  /** Fails everything that waits for a home. */
  void end(Throwable why) {
    links.forEach(link -> link.end(why));
  }
}
