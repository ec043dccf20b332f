package io.regatta.aggregator;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.regatta.collective.CollectiveAggregator;
import io.regatta.collective.CollectiveOptions;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Timer;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.MultiCounter;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.aggregation.GradientAggregatorGrpcService;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.collective.CollectiveGrpcService;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.LocalStreams;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gradient aggregator of one host as a service. It owns the {@link AggregationRounds} of its trainers on its event
 * loop, and one stream per job and shard towards the parameter servers. It also all-reduces for trainers of collective
 * jobs ({@link CollectiveAggregator}), on any host. It has started when it listens and stands in the directory with the
 * attribute {@code host}, and stopped when every waiting trainer has been notified.
 */
public final class AggregatorVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(AggregatorVerticle.class);
  private static final long SHUTDOWN_MILLIS = 1000;
  private static final long MEASURE_MILLIS = 1000;

  private final Node node;
  private final AggregatorConfig config;
  private final StreamOptions options;
  private final List<Meter> meters = new ArrayList<>();
  private final AtomicLong openRounds = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong pushes = new AtomicLong();
  private MultiCounter roundWaits;
  private AggregatorEndpoint endpoint;
  private CollectiveAggregator collectives;
  private Uplink uplink;
  private Hosted.Service hosted;
  private ServicePort port;
  private LocalStreams local;
  private Registration registration;
  private Waits.Source waits;
  private Timer measurer = Timer.NONE;

  /** Creates an aggregator on the node's host; deploy one instance. */
  public AggregatorVerticle(Node node, AggregatorConfig config) {
    this.node = node;
    this.config = config;
    this.options = node.streams(config.stream().options());
  }

  /** Returns the port that it serves on, once started. */
  public int port() {
    return port.port();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.GRADIENT_AGGREGATOR);
    uplink = new Uplink(vertx, context, node.directory(), config, options);
    endpoint = new AggregatorEndpoint(uplink);
    return ServicePort.listenForStreams(vertx, this::server, node.bind(), config.port(), "the aggregator",
            "gradient_aggregator.port", options, node.host())
        .compose(listening -> {
          port = listening;
          collectives = new CollectiveAggregator(context, node.host() + ":" + port(), CollectiveOptions.defaults()
              .withStream(options).withStartTimeoutMillis(node.config().readyTimeout().toMillis()), node.waits(),
              config.limits().jobs(), config.limits().bytes());
          local = LocalStreams.serve(VertxLoop.of(context), node.host(), port.port(), paths(), options);
          waits = node.waits().source(VertxLoop.of(context), endpoint::waits);
          measure();
          return node.directory().register(new Directory.Instance(Directory.GRADIENT_AGGREGATOR,
              UUID.randomUUID().toString(), -1, node.host(), port.port(), node.clock().epochMillis(),
              Map.of("host", node.host())));
        })
        .onSuccess(registered -> {
          registration = registered;
          hosted.serves();
          LOG.info("gradient aggregator of this host serves on {}:{}", node.host(), port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  private HttpServer server(StreamOptions at) {
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(GradientAggregatorGrpcService.SERVICE_DESCRIPTOR, hosted::isServing);
    calls.service(CollectiveGrpcService.SERVICE_DESCRIPTOR, hosted::isServing);
    return TensorStreamServer.create(vertx, at).requestHandler(TensorStreamServer.handler(vertx, paths(), calls, options));
  }

  private Map<String, Handler<TensorStream>> paths() {
    return Map.of(StreamPaths.GRADIENT_AGGREGATOR, stream -> ShardStreamSession.serve(stream, endpoint, options),
        StreamPaths.COLLECTIVE, this::toCollectives);
  }

  /**
   * Passes a stream to the collective aggregator. Between listening and readiness a fixed port, or one of the life
   * before, may be known already: the caller must try again.
   */
  private void toCollectives(TensorStream stream) {
    if (collectives == null) {
      stream.fail(new PeerLost("the aggregator at " + node.host() + ":" + config.port() + " is starting"));
    } else {
      collectives.accept(stream);
    }
  }

  private void measure() {
    String at = Integer.toString(port.port());
    meters.add(Gauge.builder("regatta.aggregator.open.rounds", openRounds, AtomicLong::get).tag("port", at)
        .description("rounds that wait for a trainer of this host").register(node.metrics()));
    meters.add(Gauge.builder("regatta.aggregator.held", bytes, AtomicLong::get).tag("port", at).baseUnit("bytes")
        .description("gradients held until the shards have acknowledged them").register(node.metrics()));
    meters.add(FunctionCounter.builder("regatta.aggregator.pushes", pushes, AtomicLong::get).tag("port", at)
        .description("pushes taken in from trainers").register(node.metrics()));
    roundWaits = new MultiCounter(node.metrics(), "regatta.aggregator.round.wait",
        "time that rounds of this host have waited for the rank", "seconds", Tags.of("port", at));
    measurer = VertxLoop.of(context).every(MEASURE_MILLIS, () -> {
      openRounds.set(endpoint.openRounds());
      bytes.set(endpoint.bytes());
      pushes.set(endpoint.pushes());
      roundWaits.show(endpoint.roundWaits());
    });
  }

  @Override
  public Future<?> stop() {
    hosted.stopped();
    measurer.cancel();
    meters.forEach(node.metrics()::remove);
    if (roundWaits != null) {
      roundWaits.close();
    }
    if (waits != null) {
      waits.close();
    }
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered
        .transform(done -> {
          String why = "the aggregator at " + node.host() + " is shutting down; start the trainers again, with it or without one";
          Future<Void> ended = collectives == null ? Future.succeededFuture() : collectives.close(why);
          return Future.join(endpoint.close(new PeerLost(why)), ended);
        })
        .onComplete(done -> {
          if (local != null) {
            local.close();
          }
        })
        .transform(done -> port == null ? Future.<Void>succeededFuture() : port.shutdown(SHUTDOWN_MILLIS))
        .transform(done -> uplink.close());
  }
}
