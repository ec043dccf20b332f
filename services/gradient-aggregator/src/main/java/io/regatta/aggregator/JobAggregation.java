package io.regatta.aggregator;

import io.regatta.core.error.RegattaException;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.TrainerId;
import io.regatta.core.shard.Wait;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** One job at one aggregator: its rounds and connections by shard. Owned by the verticle's event loop. */
final class JobAggregation {

  /** What belongs to one shard. */
  record ToShard(AggregationRounds rounds, ShardConnection connection) {}

  final JobSpec spec;
  final GroupWatch watch;
  private final IntFunction<ToShard> make;
  private final Map<Integer, ToShard> shards = new TreeMap<>();
  private long generation;

  /** @param make makes what belongs to a shard that is addressed for the first time */
  JobAggregation(JobSpec spec, GroupWatch watch, IntFunction<ToShard> make) {
    this.spec = spec;
    this.watch = watch;
    this.make = make;
  }

  /** Notes the generation that a trainer knows of, which may be ahead of our watch. */
  void seen(long trainersGeneration) {
    generation = Math.max(generation, trainersGeneration);
  }

  /** The latest generation of the job's group that anybody has told us. */
  long generation() {
    return Math.max(generation, watch.generation());
  }

  /** The rounds towards a shard, null if no trainer has registered for it. */
  AggregationRounds rounds(int shard) {
    ToShard to = shards.get(shard);
    return to == null ? null : to.rounds;
  }

  AggregationRounds roundsOrNew(int shard) {
    return shards.computeIfAbsent(shard, make::apply).rounds;
  }

  /** The trainer is gone, in whatever way the rendezvous saw it. */
  void lost(TrainerId trainer) {
    List.copyOf(shards.values()).forEach(to -> to.rounds.lost(trainer));
  }

  /** Nobody up to this incarnation is in the job's group any more. */
  void groupEnded(long lastIncarnation) {
    for (ToShard to : List.copyOf(shards.values())) {
      for (TrainerId trainer : to.rounds.trainers()) {
        if (trainer.incarnation() <= lastIncarnation) {
          to.rounds.lost(trainer);
        }
      }
    }
  }

  /** Forgets the shards that nobody needs any more; true if none is left. */
  boolean prune() {
    for (Iterator<ToShard> it = shards.values().iterator(); it.hasNext(); ) {
      ToShard to = it.next();
      if (to.rounds.isEmpty()) {
        it.remove();
        to.connection.close();
      }
    }
    return shards.isEmpty();
  }

  Future<Void> close(RegattaException reason) {
    watch.close();
    List<Future<Void>> closed = new ArrayList<>();
    for (ToShard to : shards.values()) {
      to.rounds.close(reason);
      closed.add(to.connection.close());
    }
    return Future.join(closed).mapEmpty();
  }

  void addWaits(List<Wait> waits) {
    shards.values().forEach(to -> waits.addAll(to.rounds.waits()));
  }

  long openRounds() {
    return shards.values().stream().mapToLong(to -> to.rounds.openRounds()).sum();
  }

  long bytes() {
    return shards.values().stream().mapToLong(to -> to.rounds.bytes()).sum();
  }
}
