package io.regatta.heterworker.dense;

import io.regatta.core.dense.DenseValues;
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
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.shard.ShardStreamHandler;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreams;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The handler of trainers' streams to shards through a heter worker. A push gets the dense gradient that this worker
 * has computed. A pull of dense values ends here, and its answer has those of the trainer's own variables only. Shards see one push and one pull per trainer
 * and step, as without heter workers: each trainer has a stream of its own to each shard, under its own identity. Owned
 * by the verticle's event loop.
 */
public final class DenseExchange implements ShardStreamHandler {

  /** The look-up of shards. */
  public interface Shards {

    /** Returns the shard of this global index, see {@link io.regatta.node.directory.ShardAddresses#find}. */
    Future<Shard> find(int index, long incarnation);
  }

  private final String job;
  private final int maxTrainers;
  private final Loop loop;
  private final Shards addresses;
  private final TensorStreams streams;
  private final StreamOptions options;
  private final Map<TrainerId, Member> members = new HashMap<>();
  /** The same trainers, for the model thread. */
  private final Map<TrainerId, TrainerDense> parameters = new ConcurrentHashMap<>();

  /** Null if each trainer's gradients go to the servers for themselves. */
  private final GradientSums sums;
  private final Promise<Part> part = Promise.promise();

  /**
   * The part of the network, once it is built.
   *
   * @param variables their names
   * @param elements of all variables
   */
  public record Part(Set<String> variables, int elements) {}

  /** A trainer with its links, by shard. */
  private record Member(TrainerDense dense, Map<Integer, Uplink> links) {}

  /**
   * A link to a shard.
   *
   * @param by the registration that has opened it, an object of its own stream
   */
  private record Uplink(Origin by, Future<ShardLink> link) {

    Future<Void> close() {
      return link.compose(open -> Future.fromCompletionStage(open.close())).otherwiseEmpty();
    }
  }

  /**
   * Creates the exchange of a job without trainers.
   *
   * @param streams of the loop
   * @param maxTrainers trainers at a time; further ones are refused
   * @param sums adds the trainers' gradients up; null: each goes to the servers for itself
   */
  public DenseExchange(String job, int maxTrainers, Loop loop, Shards addresses, TensorStreams streams,
      StreamOptions options, GradientSums sums) {
    this.sums = sums;
    this.job = job;
    this.maxTrainers = maxTrainers;
    this.loop = loop;
    this.addresses = addresses;
    this.streams = streams;
    this.options = options;
  }

  /** Returns the dense parameters of a trainer; empty if they come with its batches. Any thread. */
  Optional<TrainerDense> of(TrainerId trainer) {
    return Optional.ofNullable(parameters.get(trainer));
  }

  /** Takes the part: all other variables are the trainers' own. Any thread, once. */
  void part(Part built) {
    loop.execute(() -> {
      members.values().forEach(member -> member.dense.part(built.variables()));
      part.tryComplete(built);
    });
  }

  /** Returns the part, once it is built. */
  public Future<Part> part() {
    return part.future();
  }

  /** Makes a call once the part is built. Those of a stream keep their order. */
  private <T> Future<T> built(Supplier<Future<T>> call) {
    return part.future().isComplete() ? attempt(call) : part.future().compose(of -> attempt(call));
  }

  /** Registers a trainer, which the shard knows already, and opens the link to the shard. */
  @Override
  public Future<Long> register(Origin from, JobSpec spec, long step) {
    return attempt(() -> {
      Member member = member(from, spec);
      Uplink uplink = new Uplink(from, open(from, spec));
      Uplink before = member.links.put(from.shard(), uplink);
      if (before != null) {
        before.close();
      }
      return uplink.link.map(step);
    });
  }

  private Member member(Origin from, JobSpec spec) {
    if (!from.job().equals(job)) {
      throw new InvalidInput("this heter worker computes for job " + job + ", not for job " + from.job());
    }
    if (from.shard() < 0 || from.shard() >= spec.shards()) {
      throw new InvalidInput("shard " + from.shard() + " is not among the " + spec.shards() + " of job " + job);
    }
    if (!spec.mode().needsServers()) {
      throw new InvalidInput("job " + job + " trains in mode " + spec.mode().id()
          + ", in which heter workers push nothing; use heter.dense: trainers");
    }
    Member member = members.get(from.trainer());
    if (member == null) {
      List<TrainerId> lives = members.keySet().stream().filter(other -> other.rank() == from.trainer().rank()).toList();
      if (lives.stream().anyMatch(other -> other.incarnation() > from.trainer().incarnation())) {
        throw new StaleGeneration("trainer " + from.trainer().rank() + " of job " + job + " has been replaced by a later life of "
            + "its rank");
      }
      lives.forEach(this::remove);
      if (members.size() >= maxTrainers) {
        throw new Overloaded(members.size() + " trainers push through this heter worker, the limit "
            + "(heter_worker.limits.trainers); start more heter workers, or raise it");
      }
      member = new Member(new TrainerDense(spec, from.trainer(), sums), new HashMap<>());
      if (part.future().isComplete()) {
        member.dense.part(part.future().result().variables());
      }
      if (sums != null) {
        sums.enter(from.trainer());
      }
      members.put(from.trainer(), member);
      parameters.put(from.trainer(), member.dense);
    } else if (!member.dense.spec().equals(spec)) {
      throw new Conflict("trainer " + from.trainer().rank() + " of job " + job
          + " brings another model or other settings for shard "
          + from.shard() + " than for other shards; use the same for all");
    }
    return member;
  }

  private Future<ShardLink> open(Origin from, JobSpec spec) {
    Supplier<Future<GrpcShardLink>> open = () -> addresses.find(from.shard(), from.shardIncarnation())
        .compose(shard -> streams.open(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD)
            .map(stream -> new GrpcShardLink(stream, name(shard), shard.getIndex(), shard.getIncarnation(),
            from::generation,
                unused -> Future.failedFuture(new InvalidInput("a heter worker asks for no digest")), options)));
    return ReopeningShardLink.open(loop, open, options.maxRequests()).compose(link ->
        Future.fromCompletionStage(link.register(spec, from.trainer(), 0)).map(registered -> (ShardLink) link));
  }

  private static String name(Shard shard) {
    return "shard " + shard.getIndex() + " at " + shard.getHost() + ":" + shard.getPort();
  }

  @Override
  public Future<PushAck> push(Origin from, Push push) {
    return built(() -> {
      for (Contributor contributor : push.contributors()) {
        if (!new TrainerId(contributor.rank(), contributor.incarnation()).equals(from.trainer())) {
          throw new InvalidInput("trainer " + from.trainer().rank() + " of job " + job
              + " pushes in the name of trainer "
              + contributor.rank());
        }
      }
      if (push.sitsOut() && sums != null) { // its shards have their own
        sums.leave(from.trainer());
        return Future.succeededFuture(new PushAck(0, 0, false, false));
      }
      if (push.sitsOut() || push.contributors().size() != 1) {
        throw new InvalidInput("a push of trainer " + from.trainer().rank() + " of job " + job
            + " through a heter worker has one contributor; send others to shard " + from.shard() + " directly");
      }
      Member member = member(from);
      Future<Push> whole = Future.fromCompletionStage(member.dense.withGradient(push, from.shard()));
      Future<ShardLink> opened = link(member, from);
      return whole.compose(of -> opened.compose(link -> Future.fromCompletionStage(link.push(of)))).map(ack -> {
        boolean dropped = member.dense.acknowledged(push.step(), member.links.size());
        return dropped ? new PushAck(ack.version(), ack.staleness(), ack.repeatedPush(), true) : ack;
      });
    });
  }

  /** Pulls the dense values of a step; the answer has those of the trainer's own variables. */
  @Override
  public Future<Pulled> pull(Origin from, Pull pull) {
    return built(() -> {
      if (!pull.dense() || !pull.sparse().isEmpty() || pull.readOnly()) {
        throw new InvalidInput("a pull of trainer " + from.trainer().rank() + " of job " + job
            + " through a heter worker is for the "
            + "dense values of a step; send others to shard " + from.shard() + " directly");
      }
      Member member = member(from);
      Pull there = new Pull(pull.rank(), pull.minStep(), true, member.dense.values(from.shard()), List.of(), false,
          false);
      return link(member, from).compose(link -> Future.fromCompletionStage(link.pull(there))).map(values -> {
        member.dense.pulled(from.shard(), values.version(), pull.changed(), member.links.size());
        return new Pulled(values.version(), member.dense.own(from.shard()), List.of(), values.clockLead());
      });
    });
  }

  private Member member(Origin from) {
    Member member = members.get(from.trainer());
    if (member == null || !member.links.containsKey(from.shard())) {
      throw new StaleGeneration("trainer " + from.trainer().rank() + " of job " + job + " is not registered for shard "
          + from.shard() + " at this heter worker; join the group again");
    }
    return member;
  }

  private static Future<ShardLink> link(Member member, Origin from) {
    return member.links.get(from.shard()).link;
  }

  /** Forgets the trainer at this shard, which it leaves over its own stream. */
  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    Member member = members.get(from.trainer());
    Uplink uplink = member == null ? null : member.links.remove(from.shard());
    if (uplink != null) {
      ended(from.trainer(), member, uplink);
    }
    return Future.succeededFuture();
  }

  /** Forgets the trainer at this shard, unless it has registered again on another stream. */
  @Override
  public void closed(Origin from) {
    Member member = members.get(from.trainer());
    Uplink uplink = member == null ? null : member.links.get(from.shard());
    if (uplink != null && uplink.by == from) {
      member.links.remove(from.shard());
      ended(from.trainer(), member, uplink);
    }
  }

  private void ended(TrainerId trainer, Member member, Uplink uplink) {
    uplink.close();
    if (member.links.isEmpty()) {
      remove(trainer);
    }
  }

  private void remove(TrainerId trainer) {
    parameters.remove(trainer);
    if (sums != null) {
      sums.leave(trainer);
    }
    List.copyOf(members.remove(trainer).links.values()).forEach(Uplink::close);
  }

  @Override
  public Future<Void> initialize(Origin from, DenseValues dense) {
    return goToTheShard("INITIALIZE", from);
  }

  @Override
  public Future<ExportCursor> export(Origin from, String table) {
    return goToTheShard("EXPORT", from);
  }

  private <T> Future<T> goToTheShard(String what, Origin from) {
    return Future.failedFuture(new InvalidInput("a heter worker serves no " + what + "; send it to shard "
        + from.shard()
        + " of job " + job + " directly"));
  }

  private static <T> Future<T> attempt(Supplier<Future<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException | Error e) { // a defect, or no memory: the peer gets the error and the loop continues
      return Future.failedFuture(e);
    }
  }

  /** Closes all links; what is under way fails. */
  public Future<Void> close() {
    List<Uplink> links = members.values().stream().flatMap(member -> member.links.values().stream()).toList();
    members.clear(); // first: a link that ends may end its trainer's stream
    parameters.clear();
    List<Future<Void>> closed = links.stream().map(Uplink::close).toList();
    return Future.join(closed).transform(v -> streams.close());
  }
}
