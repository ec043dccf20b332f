package io.regatta.parameterserver;

import io.regatta.node.Node;
import io.regatta.node.address.ServicePort;
import io.regatta.node.admin.Hosted;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.parameterserver.ParameterServerGrpcService;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.StatusRequest;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.server.GrpcServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A parameter server: owns its control port and its shards' verticles, on its event loop. Started when all shards
 * listen and the directory has the control port; stopped when they do not any more. It does not touch a tensor.
 */
public final class ParameterServerVerticle extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(ParameterServerVerticle.class);
  private static final long SHUTDOWN_MILLIS = 500;
  static final String PORT_KEY = "parameter_server.port";

  private final Node node;
  private final ParameterServerConfig config;
  private final String id = UUID.randomUUID().toString();
  private final List<ParameterShardVerticle> shards = new ArrayList<>();
  private final List<Future<String>> deployments = new ArrayList<>();
  private final Promise<ShardMapReply> shardMap = Promise.promise();
  private Hosted.Service hosted;
  private ServicePort control;
  private ServerSeat seat;
  private Registration registration;

  /** One server on the node's host; deploy one instance. */
  public ParameterServerVerticle(Node node, ParameterServerConfig config) {
    this.node = node;
    this.config = config;
  }

  /** The control port, once started. */
  public int port() {
    return control.port();
  }

  /** The index among the servers, once started. */
  public int index() {
    return seat.index();
  }

  @Override
  public Future<?> start() {
    hosted = node.starting(Directory.PARAMETER_SERVER + (config.index() < 0 ? "" : " " + config.index()));
    GrpcServer grpc = GrpcServer.server(vertx);
    new Control().bind(grpc);
    HealthService.create(vertx)
        .register("", this::ready)
        .register(ParameterServerGrpcService.SERVICE_NAME, this::ready)
        .bind(grpc);
    return ServicePort.listen(vertx, () -> vertx.createHttpServer().requestHandler(grpc), node.host(), config.port(),
            "the parameter server", PORT_KEY)
        .compose(listening -> {
          control = listening;
          return ServerSeat.take(node, config, id, node.host() + ":" + port(), hosted::lacks);
        })
        .compose(taken -> {
          seat = taken;
          return deployShards();
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
          LOG.info("parameter server {} of {} serves {} shard(s), control port {}", seat.index(), config.servers(),
              config.shards(), port());
        })
        .onFailure(e -> hosted.failed(e))
        .recover(e -> undeployShards().transform(undeployed -> stop()).transform(stopped -> Future.failedFuture(e)));
  }

  private Future<Boolean> ready() {
    return Future.succeededFuture(registration != null);
  }

  private Future<ShardMapReply> deployShards() {
    for (int i = 0; i < config.shards(); i++) {
      int port = config.port() == 0 ? 0 : config.port() + 1 + i;
      ParameterShardVerticle shard = new ParameterShardVerticle(node, config, seat.index() * config.shards() + i, port,
          seat.incarnation());
      shards.add(shard);
      deployments.add(vertx.deployVerticle(shard));
    }
    return Future.join(deployments).map(deployed -> {
      ShardMapReply.Builder map = ShardMapReply.newBuilder().setServerIndex(seat.index());
      shards.forEach(shard -> map.addShards(shard.place()));
      return map.build();
    });
  }

  /** After a failed start: when this verticle is not deployed, nobody undeploys those that are. */
  private Future<Void> undeployShards() {
    return Future.join(deployments.stream().map(d -> d.compose(vertx::undeploy)).toList()).mapEmpty();
  }

  /** The calls of {@code regatta.ParameterServer}. */
  private final class Control extends ParameterServerGrpcService {

    /** Answers when the shards listen, so that one who comes early need not ask again. */
    @Override
    public Future<ShardMapReply> shardMap(ShardMapRequest request) {
      return shardMap.future();
    }

    @Override
    public Future<StatusReply> status(StatusRequest request) {
      Context here = context;
      return shardMap.future()
          .compose(map -> Future.all(shards.stream().map(shard -> shard.status(request.getJob())).toList()))
          .compose(all -> {
            StatusReply.Builder reply = StatusReply.newBuilder().setServerIndex(seat.index());
            for (int i = 0; i < shards.size(); i++) {
              reply.addShards(all.<ShardStatus>resultAt(i));
            }
            StatusReply built = reply.build();
            Promise<StatusReply> home = Promise.promise();
            here.runOnContext(v -> home.complete(built));
            return home.future();
          })
          .recover(e -> Future.failedFuture(ErrorMapping.toStatus(e)));
    }
  }

  @Override
  public Future<?> stop() {
    hosted.stopped();
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered
        .transform(done -> seat == null ? Future.<Void>succeededFuture() : seat.leave())
        .transform(done -> control == null ? Future.<Void>succeededFuture()
            : control.shutdown(SHUTDOWN_MILLIS));
  }
}
