package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.util.concurrent.TimeUnit;

/**
 * Opens tensor streams. Streams to the same host and port share one connection. To be used on one context, which then
 * owns the streams.
 */
public final class TensorStreamClient {
  private final Vertx vertx;
  private final StreamOptions options;
  private final HttpClient client;

  public TensorStreamClient(Vertx vertx, StreamOptions options) {
    this.vertx = vertx;
    this.options = options;
    client = vertx.createHttpClient(options.clientOptions(), new PoolOptions().setHttp2MaxSize(1));
  }

  /**
   * Opens a stream; completes on the caller's context when the request is on its way. A server that refuses the stream
   * says so through the stream's exception handler.
   *
   * @param path full method name, e.g. {@code /regatta.ParameterShard/Exchange}
   * @return fails with {@link PeerLost} if there is no connection
   */
  public Future<TensorStream> open(String host, int port, String path) {
    Context context = vertx.getOrCreateContext();
    String peer = host + ":" + port;
    RequestOptions request = new RequestOptions().setMethod(HttpMethod.POST).setHost(host).setPort(port).setURI(path)
        .putHeader("content-type", "application/grpc").putHeader("te", "trailers");
    // A frozen peer accepts the connection and never sends its HTTP/2 settings; Vert.x alone would wait for ever.
    return client.request(request).timeout(options.connectTimeoutMillis(), TimeUnit.MILLISECONDS).compose(r -> {
      r.setChunked(true);
      TensorStream stream = new ClientTensorStream(context, r, peer, options);
      return r.sendHead().map(stream);
    }).recover(e -> Future.failedFuture(
        new PeerLost("cannot open a tensor stream to " + peer + path + ": " + e.getMessage(), e)));
  }

  /** Closes all connections; open streams break. */
  public Future<Void> close() {
    return client.close();
  }
}
