package io.regatta.heterworker;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.heterworker.dense.DenseExchange;
import io.regatta.heterworker.dense.DenseHost;
import io.regatta.heterworker.dense.GradientSums;
import io.regatta.node.FiniteService;
import io.regatta.node.IndexedEntry;
import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.ShardAddresses;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.heterworker.HeterWorkerGrpcService;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.HeterConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.queue.BatchQueue;
import io.regatta.training.run.JobCheck;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A heter worker as a service: it computes the part after the cut of a job's network for the job's trainers. On its
 * event loop it owns the trainers' streams and the {@link BatchQueue}; a model thread of its own runs the program as far
 * as {@code trainer.initialize}, and computes the batches. It keeps nothing that a batch depends on.
 *
 * <p>It has started when it listens and stands in the directory with its index and the attribute {@code job}, before its
 * part is built: trainers may come at any time. It has stopped when every trainer has been notified.
 */
public final class HeterWorkerVerticle extends VerticleBase implements FiniteService {

  private static final Logger LOG = LoggerFactory.getLogger(HeterWorkerVerticle.class);
  private static final long SHUTDOWN_MILLIS = 1000;
  private static final long MEASURE_MILLIS = 1000;
  private static final long PROGRESS_MILLIS = 10_000;
  /** Longest time for a server's shard map. */
  private static final long LOOKUP_MILLIS = 10_000;

  private final Node node;
  private final HeterWorkerConfig config;
  private final JobConfig job;
  private final TrainingProgram program;
  private final PartComputation.Factory computation;
  private final StreamOptions options;
  private final Promise<String> finished = Promise.promise();
  private Loop loop;
  private Hosted.Service hosted;
  private ServicePort port;
  private LocalStreams local;
  private IndexedEntry place;
  private BatchQueue queue;
  private TrainersEnd end;
  /** These two are null until this heter worker has its index. */
  private HeterEndpoint endpoint;
  private DenseExchange dense;
  /** Merges and clips dense gradients. */
  private ExecutorService merges;
  /** Null unless the heter workers add up their gradients. */
  private WorkerGroup group;
  private GradientSums sums;
  private PartComputation run;
  private Future<Void> computed = Future.succeededFuture();
  private HeterMeters meters;
  private Waits.Source waits;
  private Timer measurer = Timer.NONE;
  private Timer progress = Timer.NONE;
  private boolean stopping;

  /** Creates a heter worker that runs the job's program, loaded by class name. */
  public HeterWorkerVerticle(Node node, HeterWorkerConfig config) {
    this(node, config, null);
  }

  /** Creates a heter worker that runs a program given in code; null: the job's. */
  public HeterWorkerVerticle(Node node, HeterWorkerConfig config, TrainingProgram program) {
    this(node, config, program, (host, index) -> new ProgramPart(config, program, host, index));
  }

  HeterWorkerVerticle(Node node, HeterWorkerConfig config, TrainingProgram program, PartComputation.Factory computation) {
    this.computation = computation;
    this.node = node;
    this.config = config;
    this.job = config.job();
    this.program = program;
    this.options = node.streams(config.stream().options());
  }

  /** Returns the port that it serves on, once started. */
  public int port() {
    return port.port();
  }

  /** Returns its index among the heter workers, once started. */
  public int index() {
    return place.index();
  }

  /**
   * Completes, with a line for the user, when the job's trainers have ended, unless the configured lifetime is endless.
   * Fails if none of them has ended its run with success, or if the part cannot be built or computed.
   */
  @Override
  public Future<String> finished() {
    return finished.future();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.HETER_WORKER + (config.index() < 0 ? "" : " " + config.index()));
    loop = VertxLoop.of(context);
    return vertx.executeBlocking(() -> {
      JobCheck.computing(job, program);
      return null;
    })
        .compose(checked -> ServicePort.listenForStreams(vertx, this::server, node.bind(), config.port(), "the heter worker",
            "heter_worker.port", options, node.host()))
        .compose(listening -> {
          port = listening;
          local = LocalStreams.serve(loop, node.host(), port.port(), paths(), options);
          return IndexedEntry.take(new IndexedEntry.Applicant(node, Directory.HETER_WORKER,
              HeterWorkerGrpcService.SERVICE_NAME,
              port.port(), Map.of("job", job.job())), config.index());
        })
        .onSuccess(taken -> {
          place = taken;
          serve();
          hosted.serves();
          LOG.info("{} of job {} serves on {}:{}", name(), job.job(), node.host(), port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  private HttpServer server(StreamOptions at) {
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(HeterWorkerGrpcService.SERVICE_DESCRIPTOR, hosted::isServing);
    return TensorStreamServer.create(vertx, at).requestHandler(TensorStreamServer.handler(vertx, paths(), calls, options));
  }

  private Map<String, Handler<TensorStream>> paths() {
    return Map.of(StreamPaths.HETER_COMPUTE, this::accept, StreamPaths.HETER_EXCHANGE, this::exchange,
        StreamPaths.COLLECTIVE, this::ofWorker);
  }

  /** Serves another heter worker's stream. */
  private void ofWorker(TensorStream stream) {
    if (group == null) {
      stream.fail(new PeerLost("the heter worker at " + node.host() + ":" + config.port()
          + " is starting, or adds up no gradients"));
    } else {
      group.accept(stream);
    }
  }

  /** Serves a trainer's stream. A fixed port may be known before this heter worker has its index: the caller tries again. */
  private void accept(TensorStream stream) {
    if (endpoint == null) {
      stream.fail(new PeerLost("the heter worker at " + node.host() + ":" + config.port() + " is starting"));
    } else {
      int batches = Math.min(options.maxRequests(), config.limits().batches());
      TrainerStream.serve(stream, endpoint, options.withMaxRequests(batches));
    }
  }

  /** Serves a trainer's stream to a shard. */
  private void exchange(TensorStream stream) {
    if (dense == null) {
      stream.fail(new PeerLost("the heter worker at " + node.host() + ":" + config.port() + " is starting"));
    } else {
      ShardStreamSession.serve(stream, dense, options);
    }
  }

  /** Begins to serve trainers and to run the program, under the index that it has now. */
  private void serve() {
    queue = new BatchQueue(loop, loop.clock(), job.heter().maxBatch());
    TrainerRegister register = new TrainerRegister(job, name(), config.limits().trainers());
    end = new TrainersEnd(node, loop, job.job(), job.trainers(), job.isOverStore(), name(), register);
    endpoint = new HeterEndpoint(job, name(), register, config.limits().bytes(), node.clock(), queue, end);
    register.add(endpoint);
    if (job.heter().path() == HeterConfig.DensePath.COLLECTIVE) {
      sums = new GradientSums(job.job(), job.trainers(), loop);
      group = new WorkerGroup(node, loop, job, place.index(), port.port(), options);
    }
    merges = Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task, "regatta-merge-" + job.job() + "-heter-" + place.index());
      thread.setDaemon(true);
      return thread;
    });
    dense = new DenseExchange(job.job(), register, loop, merges,
        new ShardAddresses(node.directory(), node.network(), LOOKUP_MILLIS)::find, new TensorStreamClient(vertx, options),
        options, sums);
    register.add(ofDense());
    if (group != null) {
      dense.part().onSuccess(part -> group.meet().onSuccess(all -> sums.meet(part.elements(), all))
          .onFailure(sums::fail));
    }
    waits = node.waits().source(loop, endpoint::waits);
    measure();
    end.ended().onComplete(this::trainersEnded);
    run = computation.of(new DenseHost(queue, dense, job.heter().isDenseAtWorkers()), place.index());
    computed = Future.fromCompletionStage(run.start(), context);
    computed.onFailure(this::failed);
  }

  /** Returns the streams of the dense exchange, which end with their trainers' lives. */
  private TrainerRegister.Streams ofDense() {
    return new TrainerRegister.Streams() {
      @Override
      public void replaced(TrainerId former, StaleGeneration why) {
        dense.end(former);
      }

      @Override
      public void lost(TrainerId life, StaleGeneration why) {
        dense.end(life);
      }
    };
  }

  private void measure() {
    meters = new HeterMeters(node.metrics(), job.job(), place.index(), queue.counts());
    measurer = loop.every(MEASURE_MILLIS, () -> meters.show(queue.waiting()));
    ProgressLine line = new ProgressLine(node.clock(), queue.counts());
    progress = loop.every(PROGRESS_MILLIS, () -> line.next(queue.waiting()).ifPresent(
        text -> LOG.info("{} of job {}: {}, trainers {}", name(), job.job(), text, endpoint.senders())));
  }

  /** Ends this heter worker after its trainers, unless it is to serve the next ones. */
  private void trainersEnded(AsyncResult<Void> how) {
    if (config.lifetime() == HeterWorkerConfig.Lifetime.ENDLESS || stopping) {
      return;
    }
    String ends = name() + " ends: ";
    String keeps = " (heter_worker.lifetime=endless keeps it)";
    endpoint.close(new PeerLost(name() + " has ended with its job"));
    queue.close(new Cancelled("job " + job.job() + " has ended"));
    computedSoon().onComplete(v -> {
      if (how.succeeded()) {
        finished.tryComplete(ends + "the trainers of job " + job.job() + " have ended" + keeps);
      } else {
        finished.tryFail(new PeerLost(ends + how.cause().getMessage() + keeps));
      }
    });
  }

  /** Refuses the trainers with the reason for which the part cannot be built or computed, and ends with it. */
  private void failed(Throwable e) {
    if (stopping || finished.future().isComplete()) {
      return;
    }
    RegattaException why = e instanceof RegattaException ours ? ours
        : new Indeterminate(name() + " of job " + job.job() + " failed: " + e, e);
    LOG.error("{} of job {} cannot compute: {}", name(), job.job(), why.getMessage());
    hosted.lacks(why.getMessage());
    queue.close(why);
    endpoint.close(why);
    finished.tryFail(why);
  }

  private String name() {
    return "heter worker " + place.index();
  }

  @Override
  public Future<?> stop() {
    stopping = true;
    hosted.stopped();
    measurer.cancel();
    progress.cancel();
    if (meters != null) {
      meters.remove();
    }
    if (waits != null) {
      waits.close();
    }
    Future<Void> unregistered = place == null ? Future.succeededFuture() : place.entry().close();
    return unregistered.transform(done -> endpoint == null ? Future.<Void>succeededFuture() : ended())
        .onComplete(done -> {
          if (local != null) {
            local.close();
          }
        })
        .transform(done -> port == null ? Future.<Void>succeededFuture() : port.shutdown(SHUTDOWN_MILLIS));
  }

  /** Waits a moment for the model thread, which may be in a native call. */
  private Future<Void> computedSoon() {
    return computed.timeout(SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS).transform(v -> Future.succeededFuture());
  }

  /** Sends the trainers away, and ends the model thread. */
  private Future<Void> ended() {
    end.close();
    endpoint.close(new PeerLost(name() + " at " + node.host() + ":" + port() + " is shutting down"));
    Cancelled stopped = new Cancelled(name() + " of job " + job.job() + " is stopped");
    queue.close(stopped);
    finished.tryFail(stopped);
    run.stop(stopped);
    if (sums != null) {
      sums.close();
    }
    return computedSoon().transform(v -> dense.close()).onComplete(v -> merges.shutdown())
        .transform(v -> group == null ? Future.succeededFuture() : group.close());
  }
}
