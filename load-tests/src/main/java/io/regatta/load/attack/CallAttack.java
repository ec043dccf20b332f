package io.regatta.load.attack;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.regatta.protocol.parameterserver.DigestRequest;
import io.regatta.protocol.parameterserver.HoldRequest;
import io.regatta.protocol.parameterserver.SaveRequest;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.parameterserver.StatusRequest;
import io.regatta.protocol.prediction.PredictRequest;
import io.regatta.protocol.rendezvous.GetRequest;
import io.regatta.protocol.rendezvous.GroupsRequest;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.LeaveRequest;
import io.regatta.protocol.rendezvous.SetRequest;
import io.regatta.protocol.rendezvous.WatchRequest;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.PemKeyCertOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Calls by gRPC and HTTP without the token, with a wrong one, in the clear, over TLS without a certificate, and with
 * one of another CA. Any thread; each run has clients of its own.
 */
final class CallAttack {
  private static final int ANSWER_MILLIS = 3000;
  private static final int MESSAGE_HEAD = 5;
  private static final int MOST_BYTES = 1 << 16;
  private static final String WRONG_TOKEN = "Bearer " + "0".repeat(64);
  private static final Set<String> REFUSED_GRPC = Set.of("12", "16");
  /** Calls that change something if they succeed. */
  private static final Set<String> CHANGES = Set.of("Join", "Leave", "Set", "Save", "Hold");
  private static final Map<String, byte[]> GRPC = grpc();
  private static final List<String> HTTP = List.of("/metrics", "/why", "/health", "/ready", "/model",
      "/predict");

  /** The way in which a client connects. */
  enum Way { CLEAR, TLS_WITHOUT_CERTIFICATE, TLS_WITH_A_CERTIFICATE_OF_ANOTHER_CA }

  private final Vertx vertx;
  private final Path keys;
  private final String job;

  /**
   * @param keys directory with tls.crt and tls.key of the attacker's own CA
   * @param job name of the job that is attacked
   */
  CallAttack(Vertx vertx, Path keys, String job) {
    this.vertx = vertx;
    this.keys = keys;
    this.job = job;
  }

  private static Map<String, byte[]> grpc() {
    Map<String, byte[]> calls = new LinkedHashMap<>();
    String health = "/grpc.health.v1.Health/";
    List.of("Check", "List", "Watch").forEach(method -> calls.put(health + method, new byte[0]));
    byte[] listServices = {0x3a, 1, '*'};
    calls.put("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", listServices);
    calls.put("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", listServices);
    calls.put("/regatta.Rendezvous/Groups", null);
    calls.put("/regatta.Rendezvous/Watch", null);
    calls.put("/regatta.Rendezvous/Join", null);
    calls.put("/regatta.Rendezvous/Leave", null);
    calls.put("/regatta.Rendezvous/Get", null);
    calls.put("/regatta.Rendezvous/Set", null);
    calls.put("/regatta.ParameterServer/ShardMap", null);
    calls.put("/regatta.ParameterServer/Status", null);
    calls.put("/regatta.ParameterShard/Digest", null);
    calls.put("/regatta.ParameterShard/Hold", null);
    calls.put("/regatta.ParameterShard/Save", null);
    calls.put("/regatta.ParameterShard/Exchange", new byte[0]);
    calls.put("/regatta.Collective/Exchange", new byte[0]);
    calls.put("/regatta.GradientAggregator/Exchange", new byte[0]);
    calls.put("/regatta.Prediction/Predict", null);
    return calls;
  }

  private byte[] message(String path, byte[] fixed) {
    if (fixed != null) {
      return fixed;
    }
    MessageLite message = switch (path.substring(path.lastIndexOf('/') + 1)) {
      case "Groups" -> GroupsRequest.getDefaultInstance();
      case "Watch" -> WatchRequest.newBuilder().setGroup(job).build();
      case "Join" -> JoinRequest.newBuilder().setGroup("attacker").setMember("attacker").setWorldSize(1).build();
      case "Leave" -> LeaveRequest.newBuilder().setGroup(job).setEnded(true).build();
      case "Get" -> GetRequest.newBuilder().setGroup(job).setKey("key").build();
      case "Set" -> SetRequest.newBuilder().setGroup(job).setKey("key").setValue(ByteString.copyFromUtf8("v")).build();
      case "ShardMap" -> ShardMapRequest.getDefaultInstance();
      case "Status" -> StatusRequest.getDefaultInstance();
      case "Digest" -> DigestRequest.newBuilder().setJob(job).build();
      case "Hold" -> HoldRequest.newBuilder().setJob(job).setDirectory("/tmp/attacker").build();
      case "Save" -> SaveRequest.newBuilder().setJob(job).setDirectory("/tmp/attacker").setKind("full").build();
      case "Predict" -> PredictRequest.newBuilder().addLines("0").build();
      default -> throw new IllegalArgumentException(path);
    };
    return message.toByteArray();
  }

  /** Makes all calls in each way at a port. Blocks. */
  List<Finding> run(Port port) {
    List<Finding> findings = new ArrayList<>();
    for (Way way : Way.values()) {
      HttpClientAgent http2 = client(way, HttpVersion.HTTP_2);
      HttpClientAgent http1 = client(way, HttpVersion.HTTP_1_1);
      for (String token : new String[] {"", WRONG_TOKEN}) {
        String how = ", " + way.name().toLowerCase().replace('_', ' ').replace("tls", "TLS").replace("ca", "CA")
            .replace("CAte", "cate") + (token.isEmpty() ? ", no token" : ", wrong token");
        GRPC.forEach((path, message) -> findings.add(grpc(http2, port, way, path, message(path, message), token, how)));
        HTTP.forEach(path -> findings.add(http(http1, port, way, path, token, how)));
      }
      wait(Future.join(http1.close(), http2.close()));
    }
    return findings;
  }

  private HttpClientAgent client(Way way, HttpVersion version) {
    HttpClientOptions options = new HttpClientOptions().setProtocolVersion(version).setHttp2ClearTextUpgrade(false)
        .setConnectTimeout(ANSWER_MILLIS);
    if (way != Way.CLEAR) {
      options.setSsl(true).setTrustAll(true).setVerifyHost(false).setUseAlpn(version == HttpVersion.HTTP_2);
    }
    if (way == Way.TLS_WITH_A_CERTIFICATE_OF_ANOTHER_CA) {
      options.setKeyCertOptions(new PemKeyCertOptions().addCertPath(keys.resolve("tls.crt").toString())
          .addKeyPath(keys.resolve("tls.key").toString()));
    }
    return vertx.createHttpClient(options);
  }

  private static <T> T wait(Future<T> future) {
    try {
      return future.timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS).toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private Finding grpc(HttpClientAgent client, Port port, Way way, String path, byte[] message, String token,
      String how) {
    String method = path.substring(path.lastIndexOf('/') + 1);
    String attempt = path.startsWith("/regatta") ? "calls of Regatta's services" : path.contains("Health")
        ? "health service" : "reflection";
    Answer answer = answer(client, port, way, path, token, Buffer.buffer(MESSAGE_HEAD + message.length)
        .appendByte((byte) 0).appendInt(message.length).appendBytes(message));
    if (answer.error != null) {
      return Finding.presence(attempt + how, port, answer.error, "");
    }
    String status = answer.grpcStatus();
    if (status == null && answer.status >= 400 && answer.status < 500) {
      return Finding.presence(attempt + how, port, "HTTP " + answer.status + " " + answer.body.toString().strip(),
          "HTTP");
    }
    if (answer.body.length() > 0 || status == null || !REFUSED_GRPC.contains(status)) {
      boolean changed = CHANGES.contains(method) && ("0".equals(status) || answer.body.length() > 0);
      return new Finding(attempt + how, port.toString(), method + ": status " + status, "",
          method + " was answered, " + Texts.excerpt(answer.body.getBytes()),
          changed ? method + " was carried out" : "");
    }
    return Finding.presence(attempt + how, port, "status " + status, "gRPC");
  }

  private Finding http(HttpClientAgent client, Port port, Way way, String path, String token, String how) {
    boolean posts = path.equals("/predict");
    Answer answer = answer(client, port, way, path, token, posts ? Buffer.buffer("0") : null);
    String attempt = "HTTP " + path + how;
    if (answer.error != null) {
      return Finding.presence("HTTP" + how, port, answer.error, "");
    }
    boolean probe = path.equals("/health") || path.equals("/ready");
    String body = answer.body.toString();
    if (probe && (answer.status == 200 || answer.status == 503) && isStatusAlone(body)) {
      return Finding.presence(attempt, port, answer.status + " " + new JsonObject(body).encode(),
          "whether it is ready");
    }
    if (answer.status >= 400 && answer.status < 500) {
      return Finding.presence("HTTP" + how, port, answer.status + " " + body.strip(), "HTTP");
    }
    return new Finding(attempt, port.toString(), String.valueOf(answer.status), "",
        Texts.excerpt(answer.body.getBytes()), "");
  }

  private static boolean isStatusAlone(String body) {
    try {
      return new JsonObject(body).fieldNames().equals(Set.of("status"));
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** An answer, or the error instead of one. */
  private static final class Answer {
    private int status;
    private String error;
    private MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    private MultiMap trailers = MultiMap.caseInsensitiveMultiMap();
    private final Buffer body = Buffer.buffer();

    private String grpcStatus() {
      String status = trailers.get("grpc-status");
      return status == null ? headers.get("grpc-status") : status;
    }
  }

  /** @param body null: GET */
  private static Answer answer(HttpClientAgent client, Port port, Way way, String path, String token, Buffer body) {
    Answer answer = new Answer();
    boolean grpc = path.lastIndexOf('/') > 0;
    RequestOptions options = new RequestOptions().setMethod(body == null ? HttpMethod.GET : HttpMethod.POST)
        .setHost(port.host()).setPort(port.number()).setURI(path).setSsl(way != Way.CLEAR)
        .setConnectTimeout(ANSWER_MILLIS);
    if (grpc) {
      options.putHeader("content-type", "application/grpc").putHeader("te", "trailers");
    }
    if (!token.isEmpty()) {
      options.putHeader("authorization", token);
    }
    try {
      wait(client.request(options).compose(request -> exchange(request, body, answer)));
    } catch (IllegalStateException e) {
      if (answer.body.length() == 0 && answer.grpcStatus() == null) {
        answer.error = Texts.error(e);
      } // else a stream that continues
    }
    return answer;
  }

  private static Future<Void> exchange(HttpClientRequest request, Buffer body, Answer answer) {
    Promise<Void> done = Promise.promise();
    request.exceptionHandler(done::tryFail);
    request.response().onFailure(done::tryFail).onSuccess(response -> read(response, answer, done));
    Future<Void> sent = body == null ? request.end() : request.end(body);
    sent.onFailure(done::tryFail);
    return done.future();
  }

  private static void read(HttpClientResponse response, Answer answer, Promise<Void> done) {
    answer.status = response.statusCode();
    answer.headers = response.headers();
    response.exceptionHandler(done::tryFail).handler(bytes -> {
      if (answer.body.length() < MOST_BYTES) {
        answer.body.appendBuffer(bytes);
      }
    }).endHandler(end -> {
      answer.trailers = response.trailers();
      done.tryComplete();
    });
  }
}
