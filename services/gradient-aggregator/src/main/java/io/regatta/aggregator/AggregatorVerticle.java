package io.regatta.aggregator;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.JobSpec;
import io.regatta.node.Directory;
import io.regatta.node.Node;
import io.regatta.node.Registration;
import io.regatta.node.Waits;
import io.regatta.protocol.ShardStreamSession;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.grpc.server.GrpcServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The gradient aggregator of one host as a service: owns the {@link AggregationRounds} of its trainers on its event
 * loop, and one stream per job and shard towards the parameter servers. Started when it listens and stands in the
 * directory with the attribute {@code host}; stopped when every trainer that waits here has been told.
 */
public final class AggregatorVerticle extends VerticleBase {
  private static final String EXCHANGE = "/regatta.GradientAggregator/Exchange";
  private static final long SHUTDOWN_MILLIS = 1000;
  private static final long MEASURE_MILLIS = 1000;

  private final Node node;
  private final AggregatorConfig config;
  private final StreamOptions options = StreamOptions.defaults();
  private final List<Meter> meters = new ArrayList<>();
  private final AtomicLong openRounds = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong pushes = new AtomicLong();
  private AggregatorEndpoint endpoint;
  private TensorStreamClient shards;
  private HttpServer server;
  private Registration registration;
  private Waits.Source waits;
  private long measurer = -1;

  /** One aggregator on the node's host; deploy one instance. */
  public AggregatorVerticle(Node node, AggregatorConfig config) {
    this.node = node;
    this.config = config;
  }

  /** The port that it serves on, once started. */
  public int port() {
    return server.actualPort();
  }

  @Override
  public Future<?> start() {
    shards = new TensorStreamClient(vertx, options);
    endpoint = new AggregatorEndpoint(config.limits().jobs(), this::begin);
    HttpServer created = TensorStreamServer.create(vertx, options).requestHandler(TensorStreamServer.handler(vertx,
        Map.of(EXCHANGE, stream -> ShardStreamSession.serve(stream, endpoint, options)), GrpcServer.server(vertx),
        options));
    return created.listen(config.port(), node.host())
        .recover(e -> Future.failedFuture(new InvalidInput("the aggregator cannot listen on " + node.host() + ":"
            + config.port() + ": " + e.getMessage() + "; give another gradient_aggregator.port, or 0 for any free one",
            e)))
        .compose(listening -> {
          server = listening;
          waits = node.waits().source(context, endpoint::waits);
          measure();
          return node.directory().register(new Directory.Instance(Directory.GRADIENT_AGGREGATOR,
              UUID.randomUUID().toString(), -1, node.host(), server.actualPort(), System.currentTimeMillis(),
              Map.of("host", node.host())));
        })
        .onSuccess(registered -> registration = registered)
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  private JobAggregation begin(JobSpec spec) {
    ShardAddresses addresses = new ShardAddresses(vertx, node.directory(), config.lookupMs());
    JobAggregation[] job = new JobAggregation[1];
    GroupWatch watch = new GroupWatch(vertx, node.directory(), spec.job(), config.retryMs(), trainer -> {
      job[0].lost(trainer);
      endpoint.prune(spec.job());
    }, last -> {
      job[0].groupEnded(last);
      endpoint.prune(spec.job());
    });
    job[0] = new JobAggregation(spec, watch, shard -> {
      ShardConnection connection =
          new ShardConnection(context, spec, shard, addresses, shards, () -> job[0].generation(), options);
      return new JobAggregation.ToShard(new AggregationRounds(spec.job(), shard, config.limits(), connection,
          System::currentTimeMillis), connection);
    });
    watch.start();
    return job[0];
  }

  private void measure() {
    meters.add(Gauge.builder("regatta.aggregator.open.rounds", openRounds, AtomicLong::get).register(node.metrics()));
    meters.add(Gauge.builder("regatta.aggregator.held", bytes, AtomicLong::get).baseUnit("bytes")
        .register(node.metrics()));
    meters.add(FunctionCounter.builder("regatta.aggregator.pushes", pushes, AtomicLong::get).register(node.metrics()));
    measurer = vertx.setPeriodic(MEASURE_MILLIS, id -> {
      openRounds.set(endpoint.openRounds());
      bytes.set(endpoint.bytes());
      pushes.set(endpoint.pushes());
    });
  }

  @Override
  public Future<?> stop() {
    vertx.cancelTimer(measurer);
    meters.forEach(node.metrics()::remove);
    if (waits != null) {
      waits.close();
    }
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered
        .transform(done -> endpoint.close(new PeerLost("the aggregator at " + node.host()
            + " is shutting down; start the trainers again, with it or without one")))
        .transform(done -> server == null ? Future.succeededFuture()
            : server.shutdown(SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS))
        .transform(done -> shards.close());
  }
}
