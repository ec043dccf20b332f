package io.regatta.predictor;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.loop.Timer;
import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.training.Servable;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.WorkerExecutor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model as a service: it answers predictions over HTTP and gRPC on one port, and takes over newer snapshots
 * meanwhile. It owns a {@link Predictor}, whose thread computes; a worker executor of size 1 reads files. It has
 * started when the model is in memory, and the newest whole snapshot, if it follows any, and the port listens.
 */
public final class PredictorVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(PredictorVerticle.class);
  private static final long SHUTDOWN_MILLIS = 1000;
  /** Reading a large model takes long; a warning would have no meaning. */
  private static final long READ_NANOS_MAX = Long.MAX_VALUE;

  private final Node node;
  private final PredictorConfig config;
  private final Servable program;
  private final List<Meter> meters = new ArrayList<>();
  private WorkerExecutor files;
  private Hosted.Service hosted;
  private Predictor predictor;
  private PredictionEndpoint endpoint;
  private ServicePort port;
  private Registration registration;
  private Timer poller = Timer.NONE;
  private Future<Void> looking = Future.succeededFuture();
  private String trouble;
  /** Used by the worker; null if no directory is followed. */
  private SnapshotFollower follower;

  /** @param program that trained the model; null: the class that the model names */
  public PredictorVerticle(Node node, PredictorConfig config, Servable program) {
    this.node = node;
    this.config = config;
    this.program = program;
  }

  /** Returns the port on which it serves, once started. */
  public int port() {
    return port.port();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.PREDICTOR);
    files = vertx.createSharedWorkerExecutor("regatta-predictor-files-" + UUID.randomUUID(), 1, READ_NANOS_MAX);
    return files.executeBlocking(this::load)
        .compose(loaded -> {
          predictor = loaded;
          follower = config.follow().isBlank() ? null : new SnapshotFollower(node.clock(), predictor, Path.of(config.follow()));
          return look();
        })
        .compose(newest -> {
          endpoint = new PredictionEndpoint(vertx, node.security(), node.probes()::answer, hosted::isServing, predictor,
              config, PredictionEndpoint.BODY_MILLIS);
          return ServicePort.listen(vertx, endpoint::server, node.bind(), config.port(), "the predictor", "predictor.port");
        })
        .compose(listening -> {
          port = listening;
          measure();
          return node.directory().register(new Directory.Instance(Directory.PREDICTOR, UUID.randomUUID().toString(), -1,
              node.host(), port.port(), node.clock().epochMillis(), Map.of()));
        })
        .onSuccess(registered -> {
          registration = registered;
          if (follower != null) {
            poller = VertxLoop.of(context).every(config.pollMs(), this::poll);
          }
          hosted.serves();
          LOG.info("model {} is served on {}:{}", predictor.source().dir(), node.host(), port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  /** Loads the model, and logs its progress, because a large model takes long. */
  private Predictor load() {
    Path dir = Path.of(config.model()).toAbsolutePath();
    long bytes = SnapshotDirectory.files(dir).stream().mapToLong(FileEntry::bytes).sum();
    LOG.info("model {} is being read, {} bytes", dir, bytes);
    Stopwatch reading = Stopwatch.start(node.clock());
    Predictor loaded = Predictor.load(Path.of(config.model()), program, null, config.batching());
    LOG.info("model {} is in memory after {}, step {}", dir, reading, loaded.source().step());
    return loaded;
  }

  /**
   * Looks for a newer snapshot, unless the last look is still running: a snapshot may take longer to read than to
   * appear.
   */
  private void poll() {
    if (looking.isComplete()) {
      looking = look().onSuccess(v -> trouble = null).recover(e -> {
        if (!String.valueOf(e.getMessage()).equals(trouble)) { // once, not at each look
          trouble = String.valueOf(e.getMessage());
          LOG.warn("model {} is not updated: {}. The next look is after {} ms", predictor.source().dir(), trouble, config.pollMs());
        }
        return Future.succeededFuture();
      });
    }
  }

  private Future<Void> look() {
    return follower == null ? Future.succeededFuture() : files.executeBlocking(() -> {
      follower.look();
      return null;
    }, false); // unordered: work in the context's order would delay its close
  }

  private void measure() {
    meters.add(Gauge.builder("regatta.predictor.step", predictor, p -> p.source().step())
        .description("step of training whose values are served; -1 if the model does not name it").register(node.metrics()));
    meters.add(FunctionCounter.builder("regatta.predictor.examples", endpoint, PredictionEndpoint::examples)
        .description("examples answered").register(node.metrics()));
    meters.add(Gauge.builder("regatta.predictor.waiting", predictor, Predictor::waitingExamples)
        .description("examples of requests that wait for the model").register(node.metrics()));
    meters.add(FunctionCounter.builder("regatta.predictor.refused", endpoint, PredictionEndpoint::refused)
        .description("requests refused or failed").register(node.metrics()));
  }

  /** Stops the service. It does not wait for a running read: closing the executor interrupts it. */
  @Override
  public Future<?> stop() {
    hosted.stopped();
    poller.cancel();
    meters.forEach(node.metrics()::remove);
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered
        .transform(done -> port == null ? Future.<Void>succeededFuture() : port.shutdown(SHUTDOWN_MILLIS))
        .transform(done -> endpoint == null ? Future.<Void>succeededFuture() : endpoint.close())
        .transform(done -> {
          if (predictor != null) {
            predictor.close();
          }
          return files.close();
        });
  }
}
