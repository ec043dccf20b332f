package io.regatta.protocol.call;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.protocol.stream.Loop;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthProto;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Health is watched without a token, so one address must not keep the others from it. */
class HealthWatchersTest {
  private static final String WATCH = "/grpc.health.v1.Health/Watch";

  private final Loop loop = new Loop();
  private final AtomicReference<BooleanSupplier> ready = new AtomicReference<>(() -> true);
  private HttpServer server;

  @BeforeEach
  void serve() throws Exception {
    GrpcCalls calls = new GrpcCalls(loop.vertx);
    calls.service(HealthProto.getDescriptor().findServiceByName("Health"), () -> ready.get().getAsBoolean());
    server = get(loop.vertx.createHttpServer(new HttpServerOptions()).requestHandler(calls).listen(0, "127.0.0.1"));
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  private HttpClient from(String address) {
    return loop.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false).setLocalAddress(address));
  }

  /** Returns the status with which a watch is refused, or empty if it has got an answer. */
  private String watch(HttpClient client, List<HttpClientRequest> open) throws Exception {
    HttpClientRequest request = get(client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", WATCH));
    byte[] message = HealthCheckRequest.getDefaultInstance().toByteArray();
    Promise<String> told = Promise.promise();
    request.response().onFailure(told::tryFail).onSuccess(response -> { // before the call is sent: a late handler misses the answer
      if (response.getHeader("grpc-status") != null) {
        told.complete(response.getHeader("grpc-status") + " " + response.getHeader("grpc-message"));
      } else {
        response.handler(bytes -> told.tryComplete(""));
      }
    });
    request.putHeader("content-type", "application/grpc")
        .send(Buffer.buffer().appendByte((byte) 0).appendInt(message.length).appendBytes(message));
    open.add(request);
    return get(told.future());
  }

  @Test
  void oneAddressDoesNotKeepOthersFromWatching_andHasItsPlacesBackWhenItEnds() throws Exception {
    HttpClient many = from("127.0.0.1");
    List<HttpClientRequest> open = new ArrayList<>();
    String refused = "";
    while (refused.isEmpty() && open.size() < 90) { // so many streams one connection may have
      refused = watch(many, open);
    }
    assertThat(refused).startsWith("8 ").contains("127.0.0.1").contains("Check");
    assertThat(watch(from("127.0.0.2"), new ArrayList<>())).as("another address").isEmpty();
    assertThat(watch(from("127.0.0.1"), new ArrayList<>())).as("another connection of the same").startsWith("8 ");
    for (HttpClientRequest each : open) {
      each.reset(8);
    }
    String again = "8";
    for (int i = 0; i < 1000 && !again.isEmpty(); i++) { // until the server has read that they have ended
      again = watch(from("127.0.0.1"), new ArrayList<>());
    }
    assertThat(again).isEmpty();
  }

  /** The status that a check is refused with. */
  private String check(HttpClient client) throws Exception {
    return get(client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", "/grpc.health.v1.Health/Check")
        .compose(request -> request.putHeader("content-type", "application/grpc").send(Buffer.buffer(new byte[5])))
        .map(response -> response.getHeader("grpc-status")));
  }

  @Test
  void logsTheFaultsOfEachMethodByThemselves_whenOneFailsAllTheTime() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(ServerCall.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    HttpClient client = from("127.0.0.1");
    try {
      ready.set(() -> {
        throw new IllegalStateException("readiness is broken");
      });
      for (int i = 0; i < 150; i++) {
        assertThat(check(client)).as("INTERNAL").isEqualTo("13");
      }
      assertThat(watch(client, new ArrayList<>())).startsWith("13 ");
    } finally {
      logger.detachAppender(lines);
    }
    assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(
        "grpc.health.v1.Health/Check failed", "grpc.health.v1.Health/Check failed (and 99 similar lines before)",
        "grpc.health.v1.Health/Watch failed");
    get(client.close());
  }

  @Test
  void endsTheWatch_whenReadinessCannotBeTold() throws Exception {
    HttpClient client = from("127.0.0.1");
    HttpClientRequest request = get(client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", WATCH));
    Promise<String> status = Promise.promise();
    request.response().onFailure(status::tryFail).onSuccess(response -> response
        .handler(bytes -> ready.set(() -> {
          throw new IllegalStateException("readiness is broken");
        }))
        .endHandler(end -> status.tryComplete(response.getTrailer("grpc-status"))));
    request.putHeader("content-type", "application/grpc").send(Buffer.buffer(new byte[5]));
    assertThat(get(status.future())).as("INTERNAL").isEqualTo("13");
    get(client.close()); // held until here: one that nobody holds may be closed before
  }
}
