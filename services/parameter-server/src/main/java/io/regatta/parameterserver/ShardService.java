package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Timer;
import io.regatta.core.shard.DigestCursor;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.Node;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Waits;
import io.regatta.node.group.GroupWatch;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.parameterserver.DigestReply;
import io.regatta.protocol.parameterserver.ParameterShardGrpcService;
import io.regatta.protocol.parameterserver.RestoreReply;
import io.regatta.protocol.parameterserver.SaveReply;
import io.regatta.protocol.parameterserver.SavedReply;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.shard.ShardStreamHandler.Origin;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One shard as a service: it owns one {@link ParameterShard} on the event loop of a context, and serves it. The port is
 * opened by its caller, and may serve other calls of the same event loop, too. Everything runs on that context, except
 * {@link #status} and {@link #place}: any thread.
 */
final class ShardService {

  private static final Logger LOG = LoggerFactory.getLogger(ShardService.class);
  private static final PeerLog JOBS = PeerLog.ofEvents(LOG);
  private static final long MEASURE_MILLIS = 1000;
  private static final long WATCH_RETRY_MILLIS = 1000;
  /** Number of values hashed in one time slice: 1 to 2 ms. */
  private static final long DIGEST_SLICE = 100_000;

  private final Node node;
  private final VertxLoop loop;
  private final int index;
  private final long incarnation;
  private final ParameterShard shard;
  private final ParameterServerConfig config;
  private final StreamOptions options;
  private final Map<String, GroupWatch> watches = new HashMap<>();
  /** Streams that have a trainer, each with its job. */
  private final Map<TensorStream, String> streams = new HashMap<>();
  /** Trainers that have left on their own, by job. */
  private final Map<String, Departures> departures = new HashMap<>();
  private final JobListener jobs;
  private final SnapshotWriter snapshots;
  private final Hosted.Service hosted;
  private final ShardMetrics metrics;
  private volatile int port;
  private LocalStreams local;
  private Waits.Source waits;
  private Timer measurer = Timer.NONE;
  /** The measurement that is running, or null. */
  private ShardMetrics.Tick tick;

  /**
   * Creates the service, on the context that owns the shard from now on.
   *
   * @param index global
   * @param incarnation sent to clients, so that they notice a restart
   */
  ShardService(Node node, Context context, ParameterServerConfig config, int index, long incarnation,
      JobListener jobs) {
    this.jobs = jobs;
    this.node = node;
    loop = VertxLoop.of(context);
    this.index = index;
    this.incarnation = incarnation;
    this.config = config;
    options = node.streams(config.stream().options());
    shard = new ParameterShard(index, config.limits().core(), loop.clock(), loop::defer);
    hosted = node.starting("shard " + index);
    metrics = new ShardMetrics(node.metrics(), node.families(), index);
    snapshots = new SnapshotWriter(node.vertx(), loop, shard, config.limits().snapshotBytes(),
        SnapshotRoots.of(config, node));
  }

  /**
   * Adds a shard's control calls to those of its port.
   *
   * @param shard asked at each call; throws if there is none yet
   * @param ready whether it serves
   */
  static void bind(GrpcCalls calls, Supplier<ShardService> shard, BooleanSupplier ready) {
    calls.service(ParameterShardGrpcService.SERVICE_DESCRIPTOR, ready)
        .unary(ParameterShardGrpcService.Digest, request -> shard.get().digest(known(request.getJob())))
        .unary(ParameterShardGrpcService.Hold, request -> shard.get().snapshots
            .hold(known(request.getJob()), request.getDirectory()))
        .unary(ParameterShardGrpcService.Save, request -> shard.get().snapshots.save(request)
            .map(SaveReply.getDefaultInstance()))
        .unary(ParameterShardGrpcService.Saved, request -> shard.get().snapshots.saved(known(request.getJob()))
            .map(file -> SavedReply.newBuilder().setFile(file.file()).setBytes(file.bytes()).setSha256(file.sha256()).build()))
        .unary(ParameterShardGrpcService.Restore, request -> shard.get().snapshots.restore(request)
            .map(dense -> RestoreReply.newBuilder().setDense(dense).build()));
  }

  /** Returns a job's name that is not too long; a longer one is refused before any message repeats it. */
  private static String known(String job) {
    ParameterShard.checkName(job);
    return job;
  }

  /** Returns true while this shard serves. Any thread. */
  boolean isServing() {
    return hosted.isServing();
  }

  /** Begins to serve, because its port is open; in-process streams are accepted as well. */
  void listens(int at, Map<String, Handler<TensorStream>> paths) {
    port = at;
    local = LocalStreams.serve(loop, node.host(), at, paths, options);
    waits = node.waits().source(loop, () -> Stream.concat(shard.waits().stream(), snapshots.waits().stream()).toList());
    measurer = loop.every(MEASURE_MILLIS, this::measure);
    hosted.serves();
  }

  /** Begins to measure all tables, unless the measurement before is still running. */
  private void measure() {
    if (tick == null) {
      tick = metrics.tick(shard);
      measureOn();
    }
  }

  /** Continues the measurement. One that fails is given up, and the next one starts from the beginning. */
  private void measureOn() {
    boolean more = false;
    try {
      more = tick != null && tick.advance();
    } catch (RuntimeException e) {
      LOG.warn("metrics of shard {} could not be renewed, which is tried again every {} ms", index, MEASURE_MILLIS, e);
    }
    if (more) {
      loop.defer(this::measureOn);
    } else {
      tick = null;
    }
  }

  /** Takes a stream of {@link StreamPaths#PARAMETER_SHARD}. */
  void serve(TensorStream stream) {
    ShardStreamSession.serve(stream, new ShardRequestHandler(index, incarnation, shard, metrics, config::checkSharding,
        this::came, this::jobChanged, job -> streams.put(stream, job), () -> streams.remove(stream),
        this::left), options);
  }

  /**
   * Handles a registration. The trainer's incarnation may be over already, so the watch repeats what it knows of it.
   */
  private void came(Origin trainer) {
    GroupWatch watch = watches.get(trainer.job());
    if (watch != null) {
      watch.repeat(trainer.trainer().rank());
    }
    jobChanged(trainer.job());
  }

  /**
   * Records that a trainer has left. A repeated call after the job has been freed must not count for the next job of
   * its name.
   */
  private void left(String job, int rank, boolean succeeded) {
    if (watches.containsKey(job)) {
      departures.computeIfAbsent(job, j -> new Departures()).left(rank, succeeded);
    }
  }

  /** Watches the group of a job that has begun, and stops watching that of one that has been freed. */
  private void jobChanged(String job) {
    boolean here = shard.jobs().contains(job);
    GroupWatch watch = watches.get(job);
    if (here && watch == null) {
      JOBS.info("shard {}: job {} begins", index, job);
      GroupWatch begun = new GroupWatch(loop, node.directory(), node.network(), job, "shard " + index, WATCH_RETRY_MILLIS,
          new ShardFollower(shard, index, job, () -> jobChanged(job), () -> streams.containsValue(job),
              this::left));
      watches.put(job, begun);
      begun.start();
      jobs.begun(job);
    } else if (!here && watch != null) {
      JOBS.info("shard {}: job {} has ended and is freed", index, job);
      watches.remove(job);
      watch.close();
      snapshots.forget(job);
      metrics.forget(job);
      Departures all = departures.remove(job);
      jobs.freed(job, all == null ? new Departures() : all);
    }
  }

  /** Returns the address of this shard, once its port is open. */
  Shard place() {
    return Shard.newBuilder().setIndex(index).setHost(node.host()).setPort(port)
        .setIncarnation(incarnation).build();
  }

  /** Returns the jobs of this shard; completes on its event loop. */
  Future<ShardStatus> status(String job) {
    return onLoop(() -> StatusMessages.of(index, shard, job, loop.clock().epochMillis()));
  }

  private <T> Future<T> onLoop(Supplier<T> question) {
    Promise<T> promise = Promise.promise();
    loop.execute(() -> {
      try {
        promise.complete(question.get());
      } catch (RuntimeException | Error e) { // no memory for the message, say: the caller must not wait for it
        promise.fail(e);
      }
    });
    return promise.future();
  }

  private Future<DigestReply> digest(String job) {
    Promise<Long> promise = Promise.promise();
    digestOn(shard.digestCursor(job), promise);
    return promise.future().map(sum -> DigestReply.newBuilder().setDigest(sum).build());
  }

  /** Hashes one slice now, the rest in later time slices. */
  private void digestOn(DigestCursor cursor, Promise<Long> promise) {
    try {
      if (cursor.advance(DIGEST_SLICE)) {
        loop.defer(() -> digestOn(cursor, promise));
      } else {
        promise.complete(cursor.value());
      }
    } catch (RuntimeException | Error e) {
      promise.fail(e);
    }
  }

  /**
   * Notifies every stream, and stops serving.
   *
   * @return completes when no file is being written or read any more; the port can be closed at once
   */
  Future<Void> stop() {
    hosted.stopped();
    measurer.cancel();
    if (waits != null) {
      waits.close();
    }
    watches.values().forEach(GroupWatch::close);
    watches.clear();
    tick = null;
    metrics.close();
    PeerLost why = new PeerLost("shard " + index + " at " + node.host() + " is shutting down");
    List.copyOf(streams.keySet()).forEach(stream -> stream.fail(why));
    if (local != null) {
      local.close();
    }
    return snapshots.close().onComplete(v -> shard.close());
  }
}
