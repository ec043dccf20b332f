package io.regatta.protocol.stream;

import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** A Vert.x with one event loop in use, servers on free ports, and a test thread that waits for what happens there. */
public final class Loop implements AutoCloseable {
  public final Vertx vertx = Vertx.vertx();
  public final Context context = vertx.getOrCreateContext();
  private final List<LocalStreams> local = new ArrayList<>();
  private final List<HostSocket> sockets = new CopyOnWriteArrayList<>();

  /** Serves tensor streams on a free port. */
  public HttpServer serve(String path, StreamOptions options, Handler<TensorStream> taker) throws Exception {
    return get(on(() -> {
      Function<StreamOptions, HttpServer> server = at -> TensorStreamServer.create(vertx, at).requestHandler(TensorStreamServer.handler(
          vertx, Map.of(path, taker), new GrpcCalls(vertx), options));
      return server.apply(options).listen(0, "127.0.0.1").onSuccess(s -> local.add(
          LocalStreams.serve(VertxLoop.of(context), "127.0.0.1", s.actualPort(), Map.of(path, taker), options)))
          .compose(s -> HostSocket.listen(vertx, server, "127.0.0.1", s.actualPort(), options).map(socket -> {
            if (socket != null) {
              sockets.add(socket);
            }
            return s;
          }));
    }));
  }

  /** How many of the servers listen on a Unix domain socket, too. */
  int sockets() {
    return sockets.size();
  }

  /** Removes the servers from the JVM's register, and their sockets; they continue to listen at their ports. */
  public void closeLocal() throws Exception {
    get(on(() -> {
      local.forEach(LocalStreams::close);
      local.clear();
      return Future.succeededFuture();
    }));
    for (HostSocket socket : sockets) {
      get(socket.shutdown(vertx, 0));
    }
    sockets.clear();
  }

  /** Opens a stream and lets its handlers be set before anything arrives. */
  public TensorStream open(int port, String path, StreamOptions options, Handler<TensorStream> use) throws Exception {
    return get(on(() -> new TensorStreamClient(vertx, options).open("127.0.0.1", port, path).onSuccess(use)));
  }

  /** Whether the stream's bytes go past Vert.x. */
  public boolean onLane(TensorStream stream) throws Exception {
    return get(on(() -> Future.succeededFuture(((HttpTensorStream) stream).hasLane())));
  }

  /** Makes a call on the event loop. */
  public <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(v -> call.get().onComplete(promise));
    return promise.future();
  }

  /** Waits; a failure is thrown as it is. */
  public static <T> T get(Future<T> future) throws Exception {
    return get(future.toCompletionStage());
  }

  /** Waits; a failure is thrown as it is. */
  public static <T> T get(CompletionStage<T> stage) throws Exception {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  @Override
  public void close() throws Exception {
    closeLocal();
    get(vertx.close());
  }
}
