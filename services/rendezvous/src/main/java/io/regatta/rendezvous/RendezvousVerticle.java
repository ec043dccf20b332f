package io.regatta.rendezvous;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.stream.Liveness;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.rendezvous.http.HttpStoreConfig;
import io.regatta.rendezvous.http.KeyValueServer;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rendezvous as a service: owns {@link Groups} on its event loop, serves them over gRPC and lets their time pass.
 * Started when it listens and stands in the directory; stopped when everybody who waited here has been told.
 */
public final class RendezvousVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(RendezvousVerticle.class);
  /** Calls that may wait on one connection: a process may host many members. */
  private static final int STREAMS_PER_CONNECTION = 10_000;
  private static final long SHUTDOWN_MILLIS = 1000;
  private static final long MEASURE_MILLIS = 1000;
  /** How long another rendezvous may take to answer before its place is taken. */
  private static final long ANSWER_MILLIS = 2000;

  private final Node node;
  private final RendezvousConfig config;
  private final List<Meter> meters = new ArrayList<>();
  private final AtomicLong openGroups = new AtomicLong();
  private final AtomicLong activeMembers = new AtomicLong();
  private final AtomicLong waitingCalls = new AtomicLong();
  private Hosted.Service hosted;
  private Groups groups;
  private ServicePort port;
  private final List<KeyValueServer> httpStores = new ArrayList<>();
  private volatile int glooPort = HttpStoreConfig.OFF;
  private volatile int launchPort = HttpStoreConfig.OFF;
  private Registration registration;
  private Waits.Source waits;
  private long ticker = -1;
  private long measurer = -1;

  /** One rendezvous on the node's host; deploy one instance. */
  public RendezvousVerticle(Node node, RendezvousConfig config) {
    this.node = node;
    this.config = config;
  }

  /** The port that it serves on, once started. */
  public int port() {
    return port.port();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.RENDEZVOUS);
    LongSupplier clock = steadyClock();
    groups = new Groups(config, clock);
    GrpcServer grpc = GrpcServer.server(vertx, new GrpcServerOptions().setMaxMessageSize(config.messageBytes()));
    new RendezvousEndpoint(groups).bind(grpc);
    HttpServerOptions options = new HttpServerOptions().setTcpKeepAlive(true)
        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(STREAMS_PER_CONNECTION));
    return ServicePort.listen(vertx, () -> Liveness.guard(vertx, vertx.createHttpServer(options),
            StreamOptions.defaults()).requestHandler(grpc), node.host(), config.port(), "the rendezvous",
            "rendezvous.port")
        .compose(listening -> {
          port = listening;
          return httpStores(clock);
        })
        .compose(v -> {
          waits = node.waits().source(context, groups::waits);
          gauge("regatta.rendezvous.groups", "open groups", openGroups);
          gauge("regatta.rendezvous.members", "active members of all groups", activeMembers);
          gauge("regatta.rendezvous.waiting.calls", "joins, gathers and other calls that wait for members", waitingCalls);
          ticker = vertx.setPeriodic(config.tickMs(), id -> groups.expire());
          measurer = vertx.setPeriodic(MEASURE_MILLIS, id -> measure());
          return node.directory().registerSole(new Directory.Instance(Directory.RENDEZVOUS, UUID.randomUUID().toString(), 0,
              node.host(), port.port(), groups.incarnation(), Map.of()), this::answers,
              "a cluster has one: end that one, or give this one another node.cluster.name");
        })
        .onSuccess(registered -> {
          registration = registered;
          hosted.serves();
          registered.lost().onSuccess(hosted::lacks);
          LOG.info("rendezvous serves on {}:{}", node.host(), port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> stop().transform(stopped -> Future.failedFuture(e)));
  }

  /** Those that have ports, one after the other. */
  private Future<Void> httpStores(LongSupplier clock) {
    HttpStoreConfig http = config.http();
    return Future.<Void>succeededFuture()
        .compose(v -> http.glooPort() == HttpStoreConfig.OFF ? Future.succeededFuture()
            : KeyValueServer.gloo(vertx, node.host(), http, clock).onSuccess(server -> {
              httpStores.add(server);
              glooPort = server.port();
            }))
        .compose(v -> http.launchPort() == HttpStoreConfig.OFF ? Future.succeededFuture()
            : KeyValueServer.launch(vertx, node.host(), http, clock).onSuccess(server -> {
              httpStores.add(server);
              launchPort = server.port();
            }))
        .mapEmpty();
  }

  /** The port of gloo's key-value server, once started; {@link HttpStoreConfig#OFF} if there is none. */
  public int glooPort() {
    return glooPort;
  }

  /** The port of launch's key-value server, once started; {@link HttpStoreConfig#OFF} if there is none. */
  public int launchPort() {
    return launchPort;
  }

  /** Another process that now listens on that port is not the one that is asked for. */
  private Future<Boolean> answers(Directory.Instance other) {
    RendezvousClient client = new RendezvousClient(vertx, other.host(), other.controlPort());
    return client.groups().timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
        .map(reply -> reply.getIncarnation() == other.incarnation())
        .eventually(client::close);
  }

  /** Ms since the epoch at the start, then by the monotonic clock: setting the wall clock ends no lease. */
  private static LongSupplier steadyClock() {
    long startMillis = System.currentTimeMillis();
    long startNanos = System.nanoTime();
    return () -> startMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  private void gauge(String name, String description, AtomicLong value) {
    meters.add(Gauge.builder(name, value, AtomicLong::get).description(description).register(node.metrics()));
  }

  private void measure() {
    openGroups.set(groups.size());
    activeMembers.set(groups.activeMembers());
    waitingCalls.set(groups.waits().size());
  }

  @Override
  public Future<?> stop() {
    hosted.stopped();
    vertx.cancelTimer(ticker);
    vertx.cancelTimer(measurer);
    meters.forEach(node.metrics()::remove);
    if (waits != null) {
      waits.close();
    }
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered.transform(done -> {
      groups.close();
      return Future.join(httpStores.stream().map(KeyValueServer::close).toList());
    }).transform(done -> port == null ? Future.succeededFuture() : port.shutdown(SHUTDOWN_MILLIS));
  }
}
