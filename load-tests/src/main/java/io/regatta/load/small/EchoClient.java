package io.regatta.load.small;

import com.google.protobuf.ByteString;
import io.regatta.load.process.Task;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.RoundTrips;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.parameterserver.ParameterShardGrpcClient;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientRequest;

/** The process that repeatedly sends 256 bytes to the {@link EchoServer} and waits for them. */
final class EchoClient implements Task {
  private static final TensorMessage MESSAGE = TensorMessage.newBuilder().setPush(Push.getDefaultInstance())
      .setPayload(ByteString.copyFrom(new byte[SmallDriver.FLOATS * Float.BYTES])).build();

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final WorkerLoop loop = WorkerLoop.on(vertx);
  private final GrpcClient client = GrpcClient.client(vertx);
  private final GrpcClientRequest<TensorMessage, TensorMessage> request;
  private final boolean waited;
  private Promise<TensorMessage> echo;

  /** @param waited whether a thread asks and waits for each echo; else they follow each other on the loop */
  EchoClient(int port, boolean waited) throws Exception {
    this.waited = waited;
    request = loop.call(() -> client.request(SocketAddress.inetSocketAddress(port, "127.0.0.1"),
        ParameterShardGrpcClient.Exchange).onSuccess(r -> r.response()
            .onSuccess(response -> response.handler(message -> echo.complete(message)))
            .onFailure(e -> echo.tryFail(e))));
  }

  private Future<TensorMessage> trip() {
    echo = Promise.promise();
    request.write(MESSAGE).onFailure(e -> echo.tryFail(e));
    return echo.future();
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    int times = command.getInteger("times");
    return waited ? RoundTrips.waited(times, () -> loop.call(this::trip))
        : loop.call(() -> RoundTrips.make(times, this::trip));
  }

  @Override
  public void close() {
    vertx.close();
  }
}
