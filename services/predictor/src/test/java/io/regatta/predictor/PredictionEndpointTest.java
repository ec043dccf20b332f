package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.node.process.Blocking;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.Certificates;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests whose bodies do not come, or not as they should. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PredictionEndpointTest {

  private static final int MAX_BYTES = 1 << 16;

  @TempDir
  static Path dir;

  private final Vertx vertx = Vertx.vertx();
  private final HttpClient http = HttpClient.newHttpClient();
  private int port;

  @BeforeAll
  static void train() {
    ServedJob.train(dir, "model", 2, new JsonObject());
  }

  @AfterEach
  void close() {
    Blocking.get(vertx.close());
  }

  private PredictionEndpoint serve(Predictor predictor, long bodyMillis) {
    return serve(predictor, bodyMillis, PeerSecurity.NONE);
  }

  private PredictionEndpoint serve(Predictor predictor, long bodyMillis, PeerSecurity security) {
    PredictionEndpoint endpoint = new PredictionEndpoint(vertx, security, probe -> probe.response().end(), () -> true,
        predictor, PredictorConfig.of("model", "", 1000, MAX_BYTES), bodyMillis);
    HttpServer server = Blocking.get(endpoint.server().listen(0, "127.0.0.1"));
    port = server.actualPort();
    return endpoint;
  }

  /** Announces a body of the largest size, and sends this number of its bytes. */
  private Socket upload(int bytes) throws IOException {
    Socket socket = new Socket("127.0.0.1", port);
    socket.getOutputStream().write(("POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: " + MAX_BYTES + "\r\n\r\n"
        + "x".repeat(bytes)).getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  /** As curl does with more than a megabyte: the body comes when the service has said that it will take it. */
  @Test
  void a_sender_that_asks_first_is_told_to_go_on() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      serve(predictor, 60_000);
      HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/predict"))
          .expectContinue(true).version(HttpClient.Version.HTTP_1_1).timeout(Duration.ofSeconds(20))
          .POST(HttpRequest.BodyPublishers.ofString(ServedJob.lines(dir).get(0))).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
    }
  }

  private HttpRequest.Builder post(String path) throws Exception {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).version(HttpClient.Version.HTTP_1_1)
        .timeout(Duration.ofSeconds(20))
        .POST(HttpRequest.BodyPublishers.ofString(ServedJob.lines(dir).get(0)));
  }

  private int status(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
  }

  @Test
  void who_does_not_show_the_token_or_speaks_no_tls_is_refused() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      serve(predictor, 60_000, PeerSecurity.of(null, Token.of("the-token-of-this-job", "a test")));
      for (String path : List.of("/predict", "/model", "/grpc.health.v1.Health/Check")) {
        assertThat(status(post(path))).isEqualTo(401);
      }
      HttpRequest.Builder grpc = post("/grpc.health.v1.Health/Check").header("content-type", "application/grpc");
      assertThat(http.send(grpc.build(), HttpResponse.BodyHandlers.discarding()).headers().firstValue("grpc-status")).contains("16");
      assertThat(status(post("/predict").header(Token.HEADER, "Bearer the-token-of-this-job"))).isEqualTo(200);
      serve(predictor, 60_000, Certificates.ofThisJvm());
      assertThatThrownBy(() -> status(post("/model"))).isInstanceOf(IOException.class);
    }
  }

  @Test
  void a_packed_body_is_refused_as_such() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      serve(predictor, 60_000);
      ByteArrayOutputStream packed = new ByteArrayOutputStream();
      try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
        out.write(ServedJob.lines(dir).get(0).getBytes(StandardCharsets.UTF_8));
      }
      HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/predict"))
          .header("content-encoding", "gzip").POST(HttpRequest.BodyPublishers.ofByteArray(packed.toByteArray())).build(),
          HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(415);
      assertThat(answer.body()).contains("content-encoding gzip");
      assertThat(answer.headers().firstValue("accept-encoding")).contains("identity");
    }
  }

  private int ask() throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/predict"))
        .POST(HttpRequest.BodyPublishers.ofString(ServedJob.lines(dir).get(0))).build(), HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  @Test
  void uploads_that_do_not_come_deny_nobody_the_service() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = serve(predictor, TimeUnit.MINUTES.toMillis(1));
      for (int i = 0; i < 9; i++) {
        idle.add(upload(10));
      }
      for (int i = 0; i < 3; i++) {
        assertThat(ask()).isEqualTo(200);
      }
      assertThat(endpoint.refused()).isZero();
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  @Test
  void a_body_that_does_not_come_in_time_is_given_up() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = serve(predictor, 200);
      boolean halfInTime = false;
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      for (int late = 1; !halfInTime && System.nanoTime() < end; late++) { // on a crowded machine that may come too late as well
        try (Socket socket = upload(MAX_BYTES / 2)) {
          String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8); // until it is closed
          assertThat(answer).startsWith("HTTP/1.1 408 ").contains(" bytes of the request have come");
          assertThat(endpoint.refused()).isEqualTo(late);
          halfInTime = answer.contains(" " + MAX_BYTES / 2 + " bytes");
        }
      }
      assertThat(halfInTime).as("half of it has come once").isTrue();
      int status = ask();
      while (status == 408 && System.nanoTime() < end) { // as above
        status = ask();
      }
      assertThat(status).isEqualTo(200);
    }
  }

  @Test
  void what_has_come_is_limited_and_forgotten_when_its_sender_goes() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = serve(predictor, TimeUnit.MINUTES.toMillis(1));
      List<Socket> many = new ArrayList<>();
      for (int i = 0; i < 5; i++) { // the fifth finds no room for its last bytes
        many.add(upload(MAX_BYTES - 1));
      }
      while (endpoint.refused() == 0) {
        Thread.onSpinWait();
      }
      for (Socket socket : many) {
        socket.close();
      }
      while (ask() != 200) {
        Thread.onSpinWait();
      }
    }
  }

  private final List<String> statuses = Collections.synchronizedList(new ArrayList<>());

  /** Begins a gRPC call on a connection of its own, and sends this number of bytes of its body. */
  private HttpClientRequest call(int bytes) {
    io.vertx.core.http.HttpClient client = vertx.createHttpClient(new HttpClientOptions()
        .setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
    HttpClientRequest request = Blocking.get(client.request(HttpMethod.POST, port, "127.0.0.1",
        "/regatta.Prediction/Predict"));
    request.putHeader("content-type", "application/grpc").setChunked(true);
    request.response().onSuccess(answer -> answer.end().onSuccess(end -> statuses.add(
        answer.getHeader("grpc-status") == null ? answer.getTrailer("grpc-status") : answer.getHeader("grpc-status"))));
    Blocking.get(request.write(Buffer.buffer().appendByte((byte) 0).appendInt(MAX_BYTES).appendBytes(new byte[bytes])));
    return request;
  }

  private void awaitStatuses(int count) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (statuses.size() < count && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    assertThat(statuses).hasSize(count);
  }

  @Test
  void what_has_come_of_calls_is_limited_together_with_what_is_posted() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = serve(predictor, TimeUnit.MINUTES.toMillis(1));
      List<HttpClientRequest> calls = new ArrayList<>();
      List<Socket> posts = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        calls.add(call(MAX_BYTES - 10));
        posts.add(upload(MAX_BYTES - 1));
      }
      calls.add(call(MAX_BYTES - 10)); // finds no room, or a post does not
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (endpoint.refused() == 0 && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(endpoint.refused()).isEqualTo(1);
      for (HttpClientRequest call : calls) {
        call.reset(8);
      }
      while (ask() != 200 && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(ask()).isEqualTo(200);
      assertThat(statuses).as("a call or a post was refused").hasSizeLessThan(2).allMatch("8"::equals);
      for (Socket socket : posts) {
        socket.close();
      }
    }
  }

  @Test
  void a_call_that_does_not_come_in_time_is_given_up() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = serve(predictor, 200);
      call(10);
      awaitStatuses(1);
      assertThat(statuses).containsExactly("4");
      assertThat(endpoint.refused()).isEqualTo(1);
    }
  }
}
