package io.regatta.heterworker.dense;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * The handler of trainers' streams to shards through a heter worker. A push gets the dense gradient that this worker
 * has computed. A pull of dense values ends here, and its answer has those of the trainer's own variables only. Shards
 * see one push and one pull per trainer and step, as without heter workers: each trainer has a stream of its own to each
 * shard, under its own identity. Owned by the verticle's event loop.
 */
public final class DenseExchange implements ShardStreamHandler {

  /** The look-up of shards. */
  public interface Shards {

    /** Returns the shard of this global index, see {@link io.regatta.node.directory.ShardAddresses#find}. */
    Future<Shard> find(int index, long incarnation);
  }

  /** The register of the trainers that the heter worker serves. */
  @FunctionalInterface
  public interface Admission {

    /**
     * Admits a life of a trainer.
     *
     * @return ends the admission; run once
     * @throws io.regatta.core.error.RegattaException if the trainer is not served: its life is over, or there is no room
     */
    Runnable admit(TrainerId trainer);
  }

  private final String job;
  private final Admission admission;
  private final Loop loop;
  private final Executor merges;
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

  /**
   * A trainer with its links, by shard.
   *
   * @param release ends its admission
   */
  private record Member(TrainerDense dense, Map<Integer, ForwardedStream> links, Runnable release) {}

  /** A trainer's stream to a shard. Requests are forwarded in their order, also if one takes time to be made. */
  private static final class ForwardedStream {
    /** The registration that has opened it, an object of its own stream. */
    private final Origin by;
    private final Future<ShardLink> link;
    /** Completes when all requests so far have been forwarded, or will not be. */
    private Future<Void> forwarded = Future.succeededFuture();

    private ForwardedStream(Origin by, Future<ShardLink> link) {
      this.by = by;
      this.link = link;
    }

    /** Forwards a request that is being made; completes with the shard's answer. */
    private <R, T> Future<T> forward(Future<R> request, BiFunction<ShardLink, R, CompletionStage<T>> call) {
      Future<Void> before = forwarded;
      Future<R> ready = before.transform(v -> request);
      Future<T> answer = ready.compose(made -> link.compose(to -> Future.fromCompletionStage(call.apply(to, made))));
      forwarded = ready.transform(v -> Future.succeededFuture()); // after the call, which was registered before it
      return answer;
    }

    private Future<Void> close() {
      return link.compose(open -> Future.fromCompletionStage(open.close())).otherwiseEmpty();
    }
  }

  /**
   * Creates the exchange of a job without trainers.
   *
   * @param admission admits the trainers
   * @param merges runs what takes time: merging and clipping of gradients, one after the other
   * @param streams of the loop
   * @param sums adds the trainers' gradients up; null: each goes to the servers for itself
   */
  public DenseExchange(String job, Admission admission, Loop loop, Executor merges, Shards addresses,
      TensorStreams streams, StreamOptions options, GradientSums sums) {
    this.sums = sums;
    this.job = job;
    this.admission = admission;
    this.loop = loop;
    this.merges = merges;
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
      ForwardedStream stream = new ForwardedStream(from, open(from, spec));
      ForwardedStream before = member.links.put(from.shard(), stream);
      if (before != null) {
        before.close();
      }
      return stream.link.map(step);
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
      Runnable release = admission.admit(from.trainer());
      member = new Member(new TrainerDense(spec, from.trainer(), sums, merges, loop), new HashMap<>(), release);
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
      return member.links.get(from.shard()).forward(whole, ShardLink::push).map(ack -> {
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
      return member.links.get(from.shard()).forward(Future.succeededFuture(there), ShardLink::pull).map(values -> {
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

  /** Forgets the trainer at this shard, which it leaves over its own stream. */
  @Override
  public Future<Void> leave(Origin from, boolean succeeded) {
    Member member = members.get(from.trainer());
    ForwardedStream stream = member == null ? null : member.links.remove(from.shard());
    if (stream != null) {
      ended(from.trainer(), member, stream);
    }
    return Future.succeededFuture();
  }

  /** Forgets the trainer at this shard, unless it has registered again on another stream. */
  @Override
  public void closed(Origin from) {
    Member member = members.get(from.trainer());
    ForwardedStream stream = member == null ? null : member.links.get(from.shard());
    if (stream != null && stream.by == from) {
      member.links.remove(from.shard());
      ended(from.trainer(), member, stream);
    }
  }

  private void ended(TrainerId trainer, Member member, ForwardedStream stream) {
    stream.close();
    if (member.links.isEmpty()) {
      remove(trainer);
    }
  }

  private void remove(TrainerId trainer) {
    parameters.remove(trainer);
    if (sums != null) {
      sums.leave(trainer);
    }
    Member member = members.remove(trainer);
    member.release.run();
    List.copyOf(member.links.values()).forEach(ForwardedStream::close);
  }

  /** Forgets a life of a trainer, and its older ones: it is over. */
  public void end(TrainerId life) {
    members.keySet().stream().filter(of -> of.rank() == life.rank() && of.incarnation() <= life.incarnation()).toList()
        .forEach(this::remove);
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
    List<ForwardedStream> links = members.values().stream().flatMap(member -> member.links.values().stream()).toList();
    members.clear(); // first: a link that ends may end its trainer's stream
    parameters.clear();
    List<Future<Void>> closed = links.stream().map(ForwardedStream::close).toList();
    return Future.join(closed).transform(v -> streams.close());
  }
}
