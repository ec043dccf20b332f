package io.regatta.collective.store;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.SeedProbe;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A store below a prefix of an etcd cluster, version 3.4 or newer. A key is {@code PREFIX/KEY}. Any thread.
 *
 * <p>The store speaks HTTP with etcd's JSON gateway, which every member serves at its client port unless it was started
 * with {@code --enable-grpc-gateway=false}. It uses Vert.x's client and no library of its own. jetcd is not used: its
 * 0.8.7 is built on Vert.x 5.1, gRPC 1.82 and code that protobuf 3 has generated. The service jars have Vert.x 5.0,
 * gRPC 1.70 and protobuf 4, and would have to change these, or run jetcd on versions for which it was not made.
 *
 * <p>Reads are linearizable, so that all clients see one order. A conditional write reads the key, compares the value
 * here, and writes in a transaction if the key still has the revision that was read. A comparison of values in etcd
 * would carry both values in one request, and two of the largest exceed etcd's limit of 1.5 MiB. Waits are repeated
 * reads: a rendezvous waits for few keys, and a watch would hold a stream for each of them.
 *
 * <p>A request that reaches no member is sent to the next one. A write that a member may have received is not
 * repeated: it fails with {@link PeerLost}. Keys have no lease in etcd and stay when the store is closed. A minority of
 * members refuses reads and writes, so the store cannot be split.
 *
 * <p>With {@code node.tls} the members are called over TLS, with the process's certificates. The job's token is never
 * sent, and values are not sealed: everybody who can write to the prefix can change the group. Users of etcd are not
 * supported.
 */
public final class EtcdStore extends PolledStore {
  private static final int FIRST_POLL_MILLIS = 10;
  private static final int POLL_MILLIS = 500;
  /** Short, because the next member is tried after it. */
  private static final int CONNECT_MILLIS = 3000;
  /** Longer than the 7 s in which a member without a leader gives up. */
  private static final long ANSWER_MILLIS = 10_000;
  private static final int KEEP_ALIVE_SECONDS = 15;
  private static final int CONNECTIONS = 16;
  private static final int WAITING_REQUESTS = 4096;
  private static final String HEALTH = ". Look at \"etcdctl endpoint health\", or name endpoints of a running cluster";

  private final HttpClientAgent http;
  private final EtcdEndpoints cluster;
  private final PeerSecurity security;
  private final long answerMillis;
  private volatile Object shown;
  /** Index of the member that is asked first: the one that answered last. */
  private volatile int preferred;

  /**
   * Creates a store; nothing is connected until its first request.
   *
   * @param security TLS of the connections, e.g. {@code node.security()}
   */
  public EtcdStore(Vertx vertx, EtcdEndpoints cluster, PeerSecurity security) {
    this(vertx, cluster, security, ANSWER_MILLIS);
  }

  /** @param answerMillis time in which a member must answer */
  EtcdStore(Vertx vertx, EtcdEndpoints cluster, PeerSecurity security, long answerMillis) {
    super(vertx, FIRST_POLL_MILLIS, POLL_MILLIS);
    this.answerMillis = answerMillis;
    this.cluster = cluster;
    this.security = security;
    this.shown = security.version();
    this.http = vertx.createHttpClient(security.client(new HttpClientOptions().setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
        .setConnectTimeout(CONNECT_MILLIS)),
        new PoolOptions().setHttp1MaxSize(CONNECTIONS).setMaxWaitQueueSize(WAITING_REQUESTS));
  }

  /** One request: what it does, for messages, and whether it may be sent again after a member may have received it. */
  private record Request(String path, Buffer body, String action, boolean repeatable) {}

  private record Answer(int status, Buffer body) {}

  /** A key's value, and the cluster's revision at which it was written. */
  private record Version(byte[] value, String revision) {}

  private String encoded(String key) {
    return encoded((cluster.prefix() + "/" + key).getBytes(StandardCharsets.UTF_8));
  }

  private static String encoded(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private JsonObject pair(String key, byte[] value) {
    return new JsonObject().put("key", encoded(key)).put("value", encoded(value));
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    return send("put", pair(key, value), "put", key, false).mapEmpty();
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    return version(key).map(found -> found.map(Version::value));
  }

  private Future<Optional<Version>> version(String key) {
    return send("range", new JsonObject().put("key", encoded(key)), "read", key, true).map(answer -> {
      JsonArray pairs = answer.getJsonArray("kvs", new JsonArray());
      if (pairs.isEmpty()) {
        return Optional.empty();
      }
      JsonObject pair = pairs.getJsonObject(0); // the gateway leaves empty values out, and writes 64 bits as text
      return Optional.of(new Version(Base64.getDecoder().decode(pair.getString("value", "")),
          pair.getString("mod_revision")));
    });
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    if (expected.isEmpty()) {
      return swap(key, "0", value);
    }
    return version(key).compose(held -> held.isEmpty() || !Arrays.equals(held.get().value, expected.get())
        ? Future.succeededFuture(false)
        : swap(key, held.get().revision, value).compose(set -> set ? Future.succeededFuture(true)
            : swap(key, expected, value))); // written since it was read, perhaps with the same value
  }

  /** @param revision at which the key was last written; 0: the key has no value */
  private Future<Boolean> swap(String key, String revision, byte[] value) {
    JsonObject condition = new JsonObject().put("key", encoded(key)).put("target", "MOD").put("result", "EQUAL")
        .put("mod_revision", revision);
    JsonObject transaction = new JsonObject().put("compare", new JsonArray().add(condition))
        .put("success", new JsonArray().add(new JsonObject().put("request_put", pair(key, value))));
    return send("txn", transaction, "conditional put", key, false).map(answer -> answer.getBoolean("succeeded", false));
  }

  @Override
  Future<Boolean> remove(String key) {
    return send("deleterange", new JsonObject().put("key", encoded(key)), "delete", key, false)
        .map(answer -> !answer.getString("deleted", "0").equals("0"));
  }

  private Future<JsonObject> send(String method, JsonObject body, String action, String key, boolean repeatable) {
    if (shown != security.version()) {
      shown = security.version();
      security.renew(http, false);
    }
    return send(new Request("/v3/kv/" + method, body.toBuffer(), action + " of key " + PeerText.of(key), repeatable),
        preferred, 1, "");
  }

  /**
   * Sends a request to one member, and to the next ones if that fails.
   *
   * @param attempt number of members asked, with this one
   * @param failures of the former ones, for the message
   */
  private Future<JsonObject> send(Request request, int at, int attempt, String failures) {
    HostPort member = cluster.members().get(at);
    return http.request(new RequestOptions().setMethod(HttpMethod.POST).setHost(member.host()).setPort(member.port())
        .setURI(request.path).setConnectTimeout(CONNECT_MILLIS))
        .transform(connected -> {
          if (connected.failed()) {
            return next(request, at, attempt, failures, SeedProbe.reason(connected.cause()), connected.cause(), true);
          }
          return exchange(connected.result(), request.body).transform(answered -> answered.failed()
              ? next(request, at, attempt, failures, reason(answered.cause()), answered.cause(), request.repeatable)
              : take(request, at, attempt, failures, answered.result()));
        });
  }

  private String reason(Throwable failure) {
    return failure instanceof TimeoutException ? "no answer within " + answerMillis + " ms" : SeedProbe.reason(failure);
  }

  private Future<Answer> exchange(HttpClientRequest request, Buffer body) {
    return request.exceptionHandler(reset -> { }).putHeader("content-type", "application/json").send(body)
        .compose(response -> response.body().map(bytes -> new Answer(response.statusCode(), bytes)))
        .timeout(answerMillis, TimeUnit.MILLISECONDS)
        .onFailure(e -> request.reset());
  }

  private Future<JsonObject> next(Request request, int at, int attempt, String failures, String reason, Throwable cause,
      boolean another) {
    HostPort member = cluster.members().get(at);
    int after = (at + 1) % cluster.members().size();
    if (preferred == at) {
      preferred = after;
    }
    InvalidInput refused = cause == null ? null : ConnectFailure.refusal("etcd at " + member, cause, security);
    if (refused != null) {
      return Future.failedFuture(refused);
    }
    String all = failures + (failures.isEmpty() ? "" : "; ") + member + ": " + PeerText.of(reason)
        + (cause == null ? "" : ConnectFailure.hint(cause, security));
    if (another && attempt < cluster.members().size()) {
      return send(request, after, attempt + 1, all);
    }
    return Future.failedFuture(
        new PeerLost(this + " did not carry out the " + request.action + ": " + all + HEALTH, cause));
  }

  private Future<JsonObject> take(Request request, int at, int attempt, String failures, Answer answer) {
    if (answer.status >= 500 && answer.status != 501) {
      return next(request, at, attempt, failures, error(answer), null, request.repeatable);
    }
    String said = this + ", member " + cluster.members().get(at) + ", answered the " + request.action + " with "
        + answer.status + " " + error(answer);
    if (answer.status != 200) {
      return Future.failedFuture(refusal(answer.status, said));
    }
    preferred = at;
    return json(answer).filter(json -> json.containsKey("header")).map(Future::succeededFuture)
        .orElseGet(() -> Future.failedFuture(
            new InvalidInput(said + ", which is no answer of etcd: name the client ports of a cluster")));
  }

  private static Optional<JsonObject> json(Answer answer) {
    try {
      return Optional.of(new JsonObject(answer.body));
    } catch (DecodeException | ClassCastException e) {
      return Optional.empty();
    }
  }

  private static RegattaException refusal(int status, String said) {
    return switch (status) {
      case 429 -> new Overloaded(said + ". If its database is full: compact and defragment it, then "
          + "\"etcdctl alarm disarm\"");
      case 401, 403 -> new InvalidInput(said + ": users of etcd are not supported; take a cluster without "
          + "authentication, protected by node.tls");
      case 404, 405, 501 -> new InvalidInput(said + ": name the client ports of etcd 3.4 or newer, started without "
          + "--enable-grpc-gateway=false");
      default -> new InvalidInput(said
          + ": look at the limits and the log of etcd (--max-request-bytes, authentication)");
    };
  }

  /** Returns etcd's error text, or else the body, in one line. */
  private static String error(Answer answer) {
    return PeerText.of(json(answer).map(error -> error.getString("message", error.getString("error")))
        .orElseGet(() -> answer.body.toString().strip()));
  }

  @Override
  Future<Void> end() {
    return http.close();
  }

  @Override
  public String toString() {
    return "store at " + cluster;
  }
}
