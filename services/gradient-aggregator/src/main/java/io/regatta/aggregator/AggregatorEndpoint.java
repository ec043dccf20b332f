package io.regatta.aggregator;

import io.micrometer.core.instrument.Tags;
import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Wait;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.protocol.shard.ShardStreamHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The handler of the streams of an aggregator's trainers. Registrations, pushes and leaves go to the job's
 * {@link AggregationRounds}, everything else is refused. Owned by the verticle's event loop.
 */
final class AggregatorEndpoint implements ShardStreamHandler {
  private final Uplink uplink;
  private final Map<String, JobAggregation> jobs = new TreeMap<>();
  /** Registrations whose shard is being looked up, each an object of its own stream. */
  private final Set<Origin> lookingUp = Collections.newSetFromMap(new IdentityHashMap<>());
  private final BlockPool blocks = new BlockPool();
  private long pushes;

  AggregatorEndpoint(Uplink uplink) {
    this.uplink = uplink;
  }

  /**
   * Registers a trainer. The shard decides about the step; here the pushes of one step form a round. Refused if the
   * directory names another incarnation of the shard than the trainer uses.
   */
  @Override
  public Future<Long> register(Origin from, JobSpec spec, long step) {
    return attempt(() -> {
      check(from, spec);
      JobAggregation job = jobs.get(from.job());
      if (from.shardIncarnation() == 0 || job != null && job.knows(from.shard(), from.shardIncarnation())) {
        enrol(from, spec);
        return Future.succeededFuture(step);
      }
      lookingUp.add(from);
      return uplink.find(from.shard(), from.shardIncarnation()).transform(found -> attempt(() -> {
        boolean open = lookingUp.remove(from);
        if (found.failed()) {
          return Future.failedFuture(found.cause());
        }
        if (!open) {
          return Future.failedFuture(new Cancelled("the stream of trainer " + from.trainer().rank() + " of job "
              + from.job() + " closed while shard " + from.shard() + " was looked up"));
        }
        enrol(from, spec);
        return Future.succeededFuture(step);
      }));
    });
  }

  private void enrol(Origin from, JobSpec spec) {
    JobAggregation job = jobs.get(spec.job());
    if (job == null) {
      if (jobs.size() >= uplink.limits().jobs()) {
        throw new Overloaded("the aggregator serves " + jobs.size() + " jobs, the limit "
            + "(gradient_aggregator.limits.jobs); wait until one has ended, or raise it");
      }
      job = new JobAggregation(spec, uplink, () -> prune(spec.job()));
      jobs.put(spec.job(), job);
      limitPool();
    } else if (!job.spec().equals(spec)) {
      throw new Conflict("trainer " + from.trainer().rank() + " brings another model or other settings for job "
          + spec.job() + " than the first trainer at this aggregator; use the same on every trainer, or another "
          + "name");
    }
    job.seen(from.generation());
    job.opened(from.shard(), from.trainer());
    try {
      job.roundsOrNew(from.shard(), from.shardIncarnation()).register(from.trainer());
      job.registered(from.trainer());
    } catch (RegattaException e) {
      prune(spec.job()); // removes a job that was created for nobody
      throw e;
    }
  }

  private static void check(Origin from, JobSpec spec) {
    if (!spec.mode().needsServers() || !spec.mode().mayBeAggregated()) {
      throw new InvalidInput("job " + spec.job() + " trains in mode " + spec.mode() + ", which no aggregator serves; "
          + "push to the shards directly, or use sync or half_async");
    }
    if (from.shard() < 0 || from.shard() >= spec.shards()) {
      throw new InvalidInput("shard " + from.shard() + " is not among the " + spec.shards() + " of job " + spec.job());
    }
    if (from.trainer().rank() < 0 || from.trainer().rank() >= spec.trainers()) {
      throw new InvalidInput("rank " + from.trainer().rank() + " is outside job " + spec.job() + " of "
          + spec.trainers() + " trainers");
    }
  }

  @Override
  public void closed(Origin from) {
    lookingUp.remove(from);
    JobAggregation job = jobs.get(from.job());
    if (job != null) {
      job.closed(from.shard(), from.trainer());
    }
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    Future<PushAck> taken = attempt(() -> {
      for (Contributor contributor : push.contributors()) {
        if (contributor.rank() != from.trainer().rank() || contributor.incarnation() != from.trainer().incarnation()) {
          throw new InvalidInput("trainer " + from.trainer().rank() + " of job " + from.job()
              + " pushes in the name of trainer " + contributor.rank());
        }
      }
      JobAggregation job = jobs.get(from.job());
      AggregationRounds rounds = job == null ? null : job.rounds(from.shard());
      if (rounds == null) {
        throw new StaleGeneration("trainer " + from.trainer().rank() + " of job " + from.job() + " is not registered "
            + "for shard " + from.shard() + " at this aggregator, or was declared lost; join the group again");
      }
      job.seen(from.generation());
      pushes++;
      Promise<PushAck> answer = Promise.promise();
      rounds.push(push).whenComplete((ack, error) -> {
        if (error != null) {
          answer.fail(error);
        } else {
          answer.complete(ack);
        }
        prune(from.job());
      });
      return answer.future();
    });
    return taken.onFailure(e -> push.release());
  }

  @Override
  public BlockPool blocks() {
    return blocks;
  }

  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    JobAggregation job = jobs.get(from.job());
    AggregationRounds rounds = job == null ? null : job.rounds(from.shard());
    if (rounds == null) {
      return Future.succeededFuture();
    }
    return Future.fromCompletionStage(rounds.leave(from.trainer())).onSuccess(v -> prune(from.job()));
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    return goToTheShard("INITIALIZE", from);
  }

  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    return goToTheShard("PULL", from);
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return goToTheShard("EXPORT", from);
  }

  private static <T> Future<T> goToTheShard(String what, Origin from) {
    return Future.failedFuture(new InvalidInput("an aggregator serves no " + what + "; send it to shard " + from.shard()
        + " of job " + from.job() + " directly"));
  }

  private static <T> Future<T> attempt(Supplier<Future<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) { // a defect, or no memory: the peer gets the error and the loop continues
      return Future.failedFuture(e);
    }
  }

  /** Removes the unused parts of a job; called after anything that may have ended it. */
  private void prune(String name) {
    JobAggregation job = jobs.get(name);
    if (job != null && job.prune()) {
      jobs.remove(name);
      limitPool();
      job.close(new Cancelled("job " + name + " has ended"));
    }
  }

  private void limitPool() {
    blocks.limit(jobs.values().stream().map(JobAggregation::spec)
        .mapToLong(s -> BlockPool.inUse(s.trainers(), s.model().denseNumel())).sum());
  }

  Future<Void> close(RegattaException reason) {
    lookingUp.clear();
    List<JobAggregation> open = List.copyOf(jobs.values());
    jobs.clear();
    List<Future<Void>> closed = new ArrayList<>();
    open.forEach(job -> closed.add(job.close(reason)));
    return Future.join(closed).mapEmpty();
  }

  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    jobs.values().forEach(job -> job.addWaits(waits));
    return waits;
  }

  /** Returns how long rounds of open jobs have waited for each rank, in seconds, with tags job, shard and rank. */
  Map<Tags, Double> roundWaits() {
    Map<Tags, Double> seconds = new HashMap<>();
    jobs.values().forEach(job -> job.addRoundWaits(seconds));
    return seconds;
  }

  /** Returns the number of pushes accepted from trainers so far. */
  long pushes() {
    return pushes;
  }

  long openRounds() {
    return jobs.values().stream().mapToLong(JobAggregation::openRounds).sum();
  }

  long bytes() {
    return jobs.values().stream().mapToLong(JobAggregation::bytes).sum();
  }
}
