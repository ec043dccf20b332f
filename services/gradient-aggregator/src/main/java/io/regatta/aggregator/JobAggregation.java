package io.regatta.aggregator;

import io.micrometer.core.instrument.Tags;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.node.group.GroupWatch;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** One job at one aggregator: its rounds and connections by shard. Owned by the verticle's event loop. */
final class JobAggregation {

  private record ToShard(AggregationRounds rounds, ShardConnection connection) {}

  private record FromTrainer(int shard, TrainerId trainer) {}

  private final JobSpec spec;
  private final Uplink uplink;
  private final GroupWatch watch;
  private final Runnable changed;
  private final Map<Integer, ToShard> shards = new TreeMap<>();
  /** Trainers whose stream is open. */
  private final Set<FromTrainer> streams = new HashSet<>();
  private long generation;

  /**
   * Begins to follow the job's group.
   *
   * @param changed run when trainers have gone, when nobody may need this any more
   */
  JobAggregation(JobSpec spec, Uplink uplink, Runnable changed) {
    this.spec = spec;
    this.uplink = uplink;
    this.changed = changed;
    watch = uplink.watch(spec.job(), new Follower());
    watch.start();
  }

  JobSpec spec() {
    return spec;
  }

  /** Notes the generation that a trainer knows of, which may be later than the watch's. */
  void seen(long trainersGeneration) {
    generation = Math.max(generation, trainersGeneration);
  }

  /**
   * Notes that a trainer has registered for a shard. A life that is over may come late, after the watch has reported
   * its end.
   */
  void registered(TrainerId trainer) {
    watch.repeat(trainer.rank());
  }

  /** Notes that a trainer's stream has registered. */
  void opened(int shard, TrainerId trainer) {
    streams.add(new FromTrainer(shard, trainer));
  }

  /** Notes that a trainer's stream is over. */
  void closed(int shard, TrainerId trainer) {
    streams.remove(new FromTrainer(shard, trainer));
  }

  private long generation() {
    return Math.max(generation, watch.generation());
  }

  /** Returns the rounds towards a shard, null if no trainer has registered for it. */
  AggregationRounds rounds(int shard) {
    ToShard to = shards.get(shard);
    return to == null ? null : to.rounds;
  }

  /** Returns true if a trainer that is registered for this shard names the same incarnation of it. */
  boolean knows(int shard, long incarnation) {
    ToShard to = shards.get(shard);
    return to != null && to.connection.incarnation() == incarnation;
  }

  /** @param incarnation of the shard, as the trainers call it; 0 if this one does not say */
  AggregationRounds roundsOrNew(int shard, long incarnation) {
    boolean first = !shards.containsKey(shard);
    ToShard to = shards.computeIfAbsent(shard, index -> {
      ShardConnection connection = uplink.connection(spec, index, this::generation);
      return new ToShard(new AggregationRounds(spec.job(), index, uplink.limits().core(), connection,
          SystemClock.get()), connection);
    });
    if (incarnation != 0) {
      to.connection.meant(incarnation);
    }
    if (first) {
      watch.repeatAll(); // its first round does not wait for trainers that are gone
    }
    return to.rounds;
  }

  /** A follower that counts every gone trainer as lost: one that leaves reports it on its stream before. */
  private final class Follower implements GroupWatch.Follower {
    @Override
    public void active(TrainerId holder) {
      lost(new TrainerId(holder.rank(), holder.incarnation() - 1));
    }

    @Override
    public void gone(TrainerId life, boolean left, boolean succeeded) {
      lost(life);
    }

    @Override
    public void viewed() {
      changed.run();
    }

    @Override
    public void ended(long lastIncarnation) {
      for (ToShard to : List.copyOf(shards.values())) {
        to.rounds.trainers().stream().filter(trainer -> trainer.incarnation() <= lastIncarnation)
            .forEach(to.rounds::lost);
      }
      changed.run();
    }

    @Override
    public boolean connected() {
      return !streams.isEmpty();
    }

    private void lost(TrainerId last) {
      List.copyOf(shards.values()).forEach(to -> to.rounds.lost(last)); // answers may prune
    }
  }

  /** Removes the unused shards; returns true if none is left. */
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

  /** Fails what has not been sent, ends the watch and the connections. */
  Future<Void> close(RegattaException reason) {
    watch.close();
    List<Future<Void>> closed = new ArrayList<>();
    for (ToShard to : List.copyOf(shards.values())) { // answers may prune
      to.rounds.close(reason);
      closed.add(to.connection.close());
    }
    return Future.join(closed).mapEmpty();
  }

  void addWaits(List<Wait> waits) {
    shards.values().forEach(to -> waits.addAll(to.rounds.waits()));
  }

  /** Adds how long rounds have waited for each rank, in seconds, with tags job, shard and rank. */
  void addRoundWaits(Map<Tags, Double> seconds) {
    shards.forEach((shard, to) -> to.rounds.waitMillis().forEach((rank, millis) -> seconds.put(
        Tags.of("job", spec.job(), "shard", shard.toString(), "rank", rank.toString()), millis / 1000.0)));
  }

  long openRounds() {
    return shards.values().stream().mapToLong(to -> to.rounds.openRounds()).sum();
  }

  long bytes() {
    return shards.values().stream().mapToLong(to -> to.rounds.bytes()).sum();
  }
}
