package io.regatta.parameterserver;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.node.address.PortGuest;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.parameterserver.CheckDirectoryReply;
import io.regatta.protocol.parameterserver.CheckDirectoryRequest;
import io.regatta.protocol.parameterserver.ParameterServerGrpcService;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.StatusRequest;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamServer;
import io.regatta.snapshot.WritablePlace;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A parameter server. It owns its control port and, on the same event loop and at the same port, its first shard. The
 * other shards are verticles of their own. Its start completes when all shards listen and the directory has the control
 * port; its stop, when they do not any more.
 */
public final class ParameterServerVerticle extends VerticleBase implements FiniteService {

  private static final Logger LOG = LoggerFactory.getLogger(ParameterServerVerticle.class);
  private static final long SHUTDOWN_MILLIS = 500;
  static final String PORT_KEY = "parameter_server.port";

  private final Node node;
  private final ParameterServerConfig config;
  private final PortGuest guest;
  /** Null if the index is configured, or given by the rendezvous. */
  private final AnnouncedSeat announced;
  private final String id = UUID.randomUUID().toString();
  private final List<ParameterShardVerticle> others = new ArrayList<>();
  private final List<Future<String>> deployments = new ArrayList<>();
  private final Promise<ShardMapReply> shardMap = Promise.promise();
  private Hosted.Service hosted;
  private Map<String, Handler<TensorStream>> paths;
  private ServicePort port;
  private ServerSeat seat;
  private ShardService first;
  private Registration registration;
  private final FreedJobs freed;
  private final Promise<String> finished = Promise.promise();

  /** Creates a server on the node's host; deploy one instance. */
  public ParameterServerVerticle(Node node, ParameterServerConfig config) {
    this(node, config, null);
  }

  /** Creates a server whose control port serves a guest as well; null: none. */
  public ParameterServerVerticle(Node node, ParameterServerConfig config, PortGuest guest) {
    this(node, config, guest, null);
  }

  private ParameterServerVerticle(Node node, ParameterServerConfig config, PortGuest guest, AnnouncedSeat announced) {
    this.node = node;
    this.config = config;
    this.guest = guest;
    this.announced = announced;
    freed = new FreedJobs(config.shards());
  }

  /**
   * Creates a server that does not know its index: trainers that know the servers in order announce it when they first
   * connect. Its start completes then. It needs a configured port and a directory of fixed endpoints. The first server
   * also needs a guest that serves as the trainers' rendezvous.
   *
   * @param trainers of each job that it takes; 0: any number
   */
  public static ParameterServerVerticle announced(Node node, ParameterServerConfig config, PortGuest guest, int trainers) {
    return new ParameterServerVerticle(node, config, guest, new AnnouncedSeat(node.clock(), node.directory(), config.port(), trainers));
  }

  /** Returns the control port, once started. */
  public int port() {
    return port.port();
  }

  /**
   * Returns a future that completes, with a line for the user, when the trainers of a job have closed at all its
   * shards. It fails then if none of them has ended its run with success. It never completes unless the configured
   * lifetime is that of a job.
   */
  @Override
  public Future<String> finished() {
    return finished.future();
  }

  /** Returns a future that completes when this server has no job: all trainers have left, or were lost. Any thread. */
  public Future<Void> unused() {
    Promise<Void> unused = Promise.promise();
    context.runOnContext(v -> freed.unused().onComplete(unused));
    return unused.future();
  }

  /** Returns a listener that passes the reports of one shard to this server's event loop. */
  private JobListener listener(int shard) {
    Context home = context;
    return new JobListener() {
      @Override
      public void begun(String job) {
        home.runOnContext(v -> freed.begun(job, shard));
      }

      @Override
      public void freed(String job, Departures seen) {
        home.runOnContext(v -> over(job, shard, seen));
      }
    };
  }

  private void over(String job, int shard, Departures ofShard) {
    freed.released(job, shard);
    if (config.lifetime() == ParameterServerConfig.Lifetime.JOB) {
      freed.add(job, shard, ofShard).ifPresent(all -> ends(job, all));
    }
  }

  private void ends(String job, Collection<Departures> all) {
    String ends = "parameter server " + seat.index() + " ends: ";
    String keeps = " (parameter_server.lifetime=endless keeps it)";
    Future<Void> guests = guest == null ? Future.succeededFuture() : guest.idle();
    guests.onComplete(idle -> Departures.failure(job, all).ifPresentOrElse(
        failure -> finished.tryFail(new PeerLost(ends + failure.getMessage() + keeps)),
        () -> finished.tryComplete(ends + "the trainers of job " + job + " have closed" + keeps)));
  }

  /** Returns the index among the servers, once started. */
  public int index() {
    return seat.index();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.PARAMETER_SERVER + (config.index() < 0 ? "" : " " + config.index()));
    return listen()
        .compose(v -> guest == null ? Future.succeededFuture() : guest.listens(port()))
        .compose(v -> announced != null ? announced.seat(hosted::lacks)
            : ServerSeat.take(node, config, id, node.host() + ":" + port(), hosted::lacks))
        .compose(this::onThisLoop)
        .compose(taken -> {
          seat = taken;
          return startShards();
        })
        .compose(map -> {
          shardMap.complete(map);
          return seat.register(node, new Directory.Instance(Directory.PARAMETER_SERVER, id, seat.index(),
              node.host(), port(), seat.incarnation(), Map.of("shards", Integer.toString(config.shards()))));
        })
        .onSuccess(registered -> {
          registration = registered;
          hosted.serves();
          registered.lost().onSuccess(hosted::lacks);
          LOG.info("parameter server {} of {} serves {} shard(s){}, control port {}", seat.index(),
              announced == null ? config.servers() : announced.servers(), config.shards(),
              config.sparseShards() == 0 ? "" : ", the last " + config.sparseShards() + " for sparse tables only",
              port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> undeployOthers().transform(undeployed -> stop()).transform(stopped -> Future.failedFuture(e)));
  }

  /** Opens the port for control calls, the first shard's calls once there is one, and the guest's. */
  private Future<Void> listen() {
    StreamOptions options = node.streams(config.stream().options());
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(ParameterServerGrpcService.SERVICE_DESCRIPTOR, hosted::isServing)
        .unary(ParameterServerGrpcService.ShardMap, this::shardMap)
        .unary(ParameterServerGrpcService.Status, this::status)
        .unary(ParameterServerGrpcService.CheckDirectory, this::checkDirectory);
    ShardService.bind(calls, this::firstShard, () -> first != null && first.isServing());
    if (guest != null) {
      guest.begin(context, calls);
    }
    paths = Map.of(StreamPaths.PARAMETER_SHARD, this::toFirstShard);
    Handler<HttpServerRequest> all = TensorStreamServer.handler(vertx, paths, calls, options);
    return ServicePort.listenForStreams(vertx, at -> TensorStreamServer.create(vertx, at).requestHandler(all), node.bind(),
        config.port(), "the parameter server", PORT_KEY, options, node.host()).map(listening -> {
          port = listening;
          LOG.info("Server listening on {}:{} selected port: {}", node.host(), port(), port()); // in words that users look for
          return null;
        });
  }

  /**
   * Passes a stream to the first shard. Clients may know the port from an earlier start: before there is a shard, they
   * must try again.
   */
  private void toFirstShard(TensorStream stream) {
    if (first == null) {
      stream.fail(starting());
    } else {
      first.serve(stream);
    }
  }

  private ShardService firstShard() {
    if (first == null) {
      throw starting();
    }
    return first;
  }

  private PeerLost starting() {
    return new PeerLost("the parameter server on " + node.host() + " is starting; try again");
  }

  private Future<ShardMapReply> startShards() {
    int from = seat.index() * config.shards();
    first = new ShardService(node, context, config, from, seat.incarnation(), listener(from));
    first.listens(port(), paths);
    for (int i = 1; i < config.shards(); i++) {
      int index = from + i;
      ParameterShardVerticle shard = new ParameterShardVerticle(node, config, index,
          config.port() == 0 ? 0 : config.port() + i, seat.incarnation(),
          listener(index));
      others.add(shard);
      deployments.add(vertx.deployVerticle(shard));
    }
    return Future.join(deployments).map(deployed -> {
      ShardMapReply.Builder map = ShardMapReply.newBuilder().setServerIndex(seat.index())
          .setSparseShards(config.sparseShards()).addShards(first.place());
      others.forEach(shard -> map.addShards(shard.place()));
      return map.build();
    });
  }

  /**
   * Undeploys the other shards after a failed start: this verticle is not deployed then, so Vert.x does not undeploy
   * them.
   */
  private Future<Void> undeployOthers() {
    return Future.join(deployments.stream().map(d -> d.compose(vertx::undeploy)).toList()).mapEmpty();
  }

  private <T> Future<T> onThisLoop(T value) {
    Context here = context;
    Promise<T> home = Promise.promise();
    here.runOnContext(v -> home.complete(value));
    return home.future();
  }

  /**
   * Answers when the shards listen, so that a client that connects early need not ask again. Once one of the shards
   * stops, which is before its streams end, the call fails. Trainers ask here whether a shard that they lost still
   * serves.
   */
  private Future<ShardMapReply> shardMap(ShardMapRequest request) {
    if (announced != null) {
      announced.told(request);
    }
    return shardMap.future().compose(map -> isServing() ? Future.succeededFuture(map)
        : Future.failedFuture(new PeerLost("the parameter server on " + node.host() + " is shutting down")));
  }

  /** Answers whether the shards of this server take snapshots in a directory, before a job relies on it. */
  private Future<CheckDirectoryReply> checkDirectory(CheckDirectoryRequest request) {
    SnapshotRoots roots = SnapshotRoots.of(config, node);
    return context.executeBlocking(() -> {
      roots.check(request.getDirectory(), request.getWrite());
      return CheckDirectoryReply.getDefaultInstance();
    }, false).recover(e -> Future.failedFuture(e instanceof IOException io ? new InvalidInput(
        PeerText.of(request.getDirectory()) + " cannot be used: " + WritablePlace.reason(io), io) : e));
  }

  private boolean isServing() {
    return first.isServing() && others.stream().allMatch(ParameterShardVerticle::isServing);
  }

  private Future<StatusReply> status(StatusRequest request) {
    ParameterShard.checkName(request.getJob());
    return shardMap.future()
        .compose(map -> Future.all(Stream.concat(Stream.of(first.status(request.getJob())),
            others.stream().map(shard -> shard.status(request.getJob()))).toList()))
        .compose(all -> {
          StatusReply.Builder reply = StatusReply.newBuilder().setServerIndex(seat.index());
          for (int i = 0; i < all.size(); i++) {
            reply.addShards(all.<ShardStatus>resultAt(i));
          }
          return onThisLoop(reply.build());
        });
  }

  @Override
  public Future<?> stop() {
    hosted.stopped();
    Future<Void> written = first == null ? Future.succeededFuture() : first.stop();
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered
        .transform(done -> seat == null ? Future.<Void>succeededFuture() : seat.leave())
        .transform(done -> guest == null ? Future.<Void>succeededFuture() : guest.end())
        .transform(done -> port == null ? Future.<Void>succeededFuture() : port.shutdown(SHUTDOWN_MILLIS))
        .eventually(() -> written);
  }
}
