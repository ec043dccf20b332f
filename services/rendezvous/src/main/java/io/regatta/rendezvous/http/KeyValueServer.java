package io.regatta.rendezvous.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.regatta.core.error.PeerText;
import io.regatta.node.address.ServicePort;
import io.regatta.protocol.call.HeldRequests;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.NettyParts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of PaddlePaddle's two key-value servers: a port, and the {@link KeyValues} that it serves and owns. On the event
 * loop of the verticle that starts it. Like the original servers it speaks HTTP/1.0: one request, one answer with
 * {@code Content-Length}, and the connection is closed. PaddlePaddle's clients support neither TLS nor a token: if the
 * process has one of these, they are refused, unless {@code rendezvous.http.open} allows them.
 */
public final class KeyValueServer {
  private static final Logger LOG = LoggerFactory.getLogger(KeyValueServer.class);
  private static final PeerLog DROPPED = new PeerLog(LOG);
  /** Idle limit of a connection: no client needs this long for one request. */
  private static final int IDLE_SECONDS = 30;
  /** Longest time until a value has arrived; bytes that trickle in hold back the limit of those on their way. */
  private static final long BODY_MILLIS = 10_000;
  static final int MAX_PATH_BYTES = 8192;
  private static final int LATE = 408;
  private static final long SHUTDOWN_MILLIS = 200;
  /** Part of the store's limit that may be arriving at once, beside the stored values; one value always may. */
  private static final int BODIES_OF_STORE = 4;

  private final KeyValues values;
  private final int maxBodyBytes;
  private final long maxBytesUnderWay;
  private final PeerSecurity security;
  /** Requests whose bodies have not arrived completely, with the lengths that they announce. */
  private final HeldRequests arriving;
  private ServicePort port;
  /** @param bodyMillis longest time until a request's body has arrived */
  KeyValueServer(Vertx vertx, KeyValues values, HttpStoreConfig config, PeerSecurity security, long bodyMillis) {
    this.security = config.open() ? security.open() : security;
    this.values = values;
    this.maxBodyBytes = config.valueBytes();
    this.maxBytesUnderWay = Math.max(config.valueBytes(), config.storeBytes() / BODIES_OF_STORE);
    this.arriving = new HeldRequests(vertx, maxBytesUnderWay, bodyMillis);
  }

  /** Starts a server for gloo's clients, on {@code gloo_port}. Completes when it listens. */
  public static Future<KeyValueServer> gloo(Vertx vertx, String host, HttpStoreConfig config, LongSupplier clock,
      PeerSecurity security) {
    return new KeyValueServer(vertx, new GlooKeyValues(config, clock), config, security, BODY_MILLIS)
        .listen(vertx, host, config.glooPort(), "rendezvous.http.gloo_port");
  }

  /** Starts a server for launch's clients, on {@code launch_port}. Completes when it listens. */
  public static Future<KeyValueServer> launch(Vertx vertx, String host, HttpStoreConfig config, LongSupplier clock,
      PeerSecurity security) {
    return new KeyValueServer(vertx, new LaunchKeyValues(config, clock), config, security, BODY_MILLIS)
        .listen(vertx, host, config.launchPort(), "rendezvous.http.launch_port");
  }

  Future<KeyValueServer> listen(Vertx vertx, String host, int wanted, String key) {
    HttpServerOptions options = new HttpServerOptions().setHttp2ClearTextEnabled(false).setTcpKeepAlive(true)
        .setIdleTimeout(IDLE_SECONDS).setIdleTimeoutUnit(TimeUnit.SECONDS).setMaxInitialLineLength(MAX_PATH_BYTES);
    return ServicePort.listen(vertx, () -> server(vertx, options), host, wanted, values.what(), key).map(listening -> {
      port = listening;
      LOG.info("{} serves on {}:{}", values.what(), host, port());
      return this;
    });
  }

  private HttpServer server(Vertx vertx, HttpServerOptions options) {
    return security.server(vertx, options).connectionHandler(KeyValueServer::speakOldHttp)
        .requestHandler(security.guard(this::serve));
  }

  /** Makes answers have the version of the protocol, not that of the request. */
  private static void speakOldHttp(HttpConnection connection) {
    ChannelPipeline pipeline = NettyParts.channel(connection).pipeline();
    pipeline.addBefore(pipeline.lastContext().name(), "http-1.0", new ChannelOutboundHandlerAdapter() {
      @Override
      public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof HttpResponse response) {
          response.setProtocolVersion(HttpVersion.HTTP_1_0);
        }
        context.write(message, promise);
      }
    });
  }

  /** Returns the port that it listens on. */
  public int port() {
    return port.port();
  }

  private void serve(HttpServerRequest request) {
    String method = request.method().name();
    boolean sets = method.equals("PUT") || method.equals("POST");
    long length = length(request.getHeader("Content-Length"));
    if (sets && length < 0) {
      send(request, Answer.refusal(411, "a " + method + " needs a Content-Length"));
    } else if (length > maxBodyBytes) {
      send(request, Answer.refusal(Budget.TOO_LARGE, "the value has " + length + " bytes, more than rendezvous.http.value_bytes "
          + maxBodyBytes));
    } else if (length < 1) {
      answer(request, method, Buffer.buffer());
    } else if (!arriving.hold(length)) {
      send(request, Answer.refusal(Budget.BUSY, arriving.bytes() + " bytes of other requests are on their way, and "
          + "with these " + length + " there would be more than " + maxBytesUnderWay + " (1/" + BODIES_OF_STORE
          + " of rendezvous.http.store_bytes, but at least rendezvous.http.value_bytes); try again"));
    } else {
      awaitBody(request, method, length);
    }
  }

  private void awaitBody(HttpServerRequest request, String method, long length) {
    boolean[] late = {false};
    Runnable hasArrived = arriving.awaitArrival(() -> {
      late[0] = true;
      arriving.giveBack(length);
      send(request, Answer.refusal(LATE, arriving.late("not all of " + length + " bytes")));
    });
    request.body().onComplete(come -> {
      if (late[0]) {
        return; // it has been answered
      }
      hasArrived.run();
      arriving.giveBack(length);
      if (come.succeeded()) {
        answer(request, method, come.result());
      } else {
        LOG.debug("{}: {} {} was cut off: {}", values.what(), method, PeerText.of(request.uri()),
            come.cause().toString());
      }
    });
  }

  /** Returns the announced length, -1 if there is no valid one. */
  private static long length(String header) {
    try {
      return header == null ? -1 : Long.parseLong(header.strip());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private void answer(HttpServerRequest request, String method, Buffer body) {
    Condition condition = new Condition(request.getHeader("If-Match"), request.getHeader("If-None-Match"));
    send(request, values.answer(method, request.uri(), condition, body.getBytes()));
  }

  private void send(HttpServerRequest request, Answer answer) {
    if (answer.status() == 0) {
      DROPPED.warn("{}: {} {} from {} has more than scope and key; it is dropped, as PaddlePaddle's server does",
          values.what(), request.method(), request.uri(), request.remoteAddress());
      request.connection().close();
      return;
    }
    HttpServerResponse response = request.response().setStatusCode(answer.status())
        .putHeader("Content-Length", Integer.toString(answer.body().length));
    if (values.contentType() != null) {
      response.putHeader("Content-Type", values.contentType());
    }
    if (answer.tag() != null) {
      response.putHeader("ETag", answer.tag());
    }
    response.end(Buffer.buffer(answer.body())).onComplete(sent -> request.connection().close());
  }

  /** Stops listening. */
  public Future<Void> close() {
    return port.shutdown(SHUTDOWN_MILLIS);
  }
}
