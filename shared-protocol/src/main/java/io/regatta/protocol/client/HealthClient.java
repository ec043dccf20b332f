package io.regatta.protocol.client;

import io.regatta.protocol.network.Calls;
import io.regatta.protocol.network.Network;
import io.vertx.core.Future;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthCheckResponse;
import io.vertx.grpc.health.v1.HealthCheckResponse.ServingStatus;

/** Calls of gRPC's health service at one port. Has a connection of its own. May be used on any loop. */
public final class HealthClient {
  private static final ServiceMethod<HealthCheckResponse, HealthCheckRequest> CHECK = ServiceMethod.client(
      ServiceName.create("grpc.health.v1", "Health"), "Check", GrpcMessageEncoder.encoder(),
      GrpcMessageDecoder.decoder(HealthCheckResponse.newBuilder()));

  private final Calls calls;

  /** Creates a client that connects at its first call. */
  public HealthClient(Network network, String host, int port) {
    calls = network.calls(host, port, "process at " + host + ":" + port);
  }

  /** Returns whether a service is ready there; fails if the port does not have it, or nobody answers. */
  public Future<Boolean> serves(ServiceName service) {
    return calls.call(CHECK, HealthCheckRequest.newBuilder().setService(service.fullyQualifiedName()).build())
        .map(answer -> answer.getStatus() == ServingStatus.SERVING);
  }

  /** Closes the connection. */
  public Future<Void> close() {
    return calls.close();
  }
}
