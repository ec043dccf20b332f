package io.regatta.collective.store;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.SeedProbe;
import io.regatta.protocol.security.CallAuthorization;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A store behind HTTP, in one of PaddlePaddle's two key-value protocols. Regatta's rendezvous serves both
 * ({@code rendezvous.http}). PaddlePaddle's own servers are supported as well, but have no {@link #compareAndSet} and
 * no {@link #add}, which then fail with {@code InvalidInput}. Any thread.
 *
 * <p>The protocol has one request per connection. Characters of a key that a path cannot hold are percent-encoded.
 */
public final class HttpStore extends PolledStore {
  /** As often as gloo's own client looks for a key, and no less often than launch's. */
  private static final int FIRST_POLL_MILLIS = 10;
  private static final int POLL_MILLIS = 500;
  private static final long REQUEST_MILLIS = 10_000;
  private static final int CONNECTIONS = 16;
  private static final int WAITING_REQUESTS = 4096;
  private static final String UNRESERVED = "-._~";

  /** The two protocols. */
  private enum Protocol { GLOO, LAUNCH }

  private final HttpClientAgent http;
  /**
   * Client for greetings alone: requests hold connections of the other one while they wait for a greeting. Null if the
   * token is shown, or there is none.
   */
  private final HttpClientAgent greetings;
  private final PeerSecurity security;
  private volatile Object shown;
  private final HostPort server;
  private final Protocol protocol;
  private final String prefix;
  private final CallAuthorization authorization;

  private HttpStore(Vertx vertx, HostPort server, PeerSecurity security, Protocol protocol, String prefix) {
    super(vertx, FIRST_POLL_MILLIS, POLL_MILLIS);
    this.security = security;
    this.shown = security.version();
    this.http = vertx.createHttpClient(security.client(new HttpClientOptions().setKeepAlive(false)
        .setConnectTimeout((int) REQUEST_MILLIS)),
        new PoolOptions().setHttp1MaxSize(CONNECTIONS).setMaxWaitQueueSize(WAITING_REQUESTS));
    this.greetings = security.hasTls() || security.token().isNone() ? null
        : vertx.createHttpClient(new HttpClientOptions().setKeepAlive(false).setConnectTimeout((int) REQUEST_MILLIS));
    this.server = server;
    this.protocol = protocol;
    this.prefix = prefix;
    this.authorization = new CallAuthorization(security, toString());
  }

  /**
   * Returns a store in the protocol of gloo's HTTP store: values are bytes at {@code /SCOPE/KEY}. A key that this store
   * deletes is gone; {@link #done} reports to the server's stop rule.
   *
   * @param scope PaddlePaddle's workers use {@code JOB_worker}, where the job's id may be empty
   */
  public static HttpStore gloo(Vertx vertx, HostPort server, String scope) {
    return gloo(vertx, server, scope, PeerSecurity.NONE);
  }

  /**
   * Returns such a store at a rendezvous with TLS or a token.
   *
   * @param security e.g. {@code node.security()}
   */
  public static HttpStore gloo(Vertx vertx, HostPort server, String scope, PeerSecurity security) {
    return new HttpStore(vertx, server, security, Protocol.GLOO, "/" + encode(scope) + "/");
  }

  /**
   * Returns a store in the protocol of launch's key-value server: values are UTF-8 text at {@code /SCOPE/KEY}, other
   * values are refused.
   *
   * @param scope e.g. the job's id
   */
  public static HttpStore launch(Vertx vertx, HostPort server, String scope) {
    return launch(vertx, server, scope, PeerSecurity.NONE);
  }

  /**
   * Returns such a store at a rendezvous with TLS or a token.
   *
   * @param security e.g. {@code node.security()}
   */
  public static HttpStore launch(Vertx vertx, HostPort server, String scope, PeerSecurity security) {
    return new HttpStore(vertx, server, security, Protocol.LAUNCH, "/" + encode(scope) + "/");
  }

  private static String encode(String text) {
    StringBuilder path = new StringBuilder(text.length());
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      if (c < 128 && Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0) {
        path.append(c);
      } else {
        path.append(String.format("%%%02X", (int) c));
      }
    }
    return path.toString();
  }

  private String path(String key) {
    return prefix + encode(key);
  }

  /**
   * Notifies gloo's server that this rank has found all others: its key stays readable for them, and counts for the
   * rule by which PaddlePaddle's server stops.
   *
   * @param key the rank's own
   */
  public Future<Void> done(String key) {
    if (protocol != Protocol.GLOO) {
      return Future.failedFuture(new InvalidInput(this + " has no stop rule: only gloo's protocol has one"));
    }
    return send(HttpMethod.DELETE, key, Map.of(), null).compose(answer -> expect(answer, "DELETE", key)).mapEmpty();
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    return send(HttpMethod.PUT, key, Map.of(), value).compose(answer -> expect(answer, "PUT", key)).mapEmpty();
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    return send(HttpMethod.GET, key, Map.of(), null).compose(answer -> {
      if (answer.status == 404) {
        return Future.succeededFuture(Optional.empty());
      }
      return expect(answer, "GET", key).map(found ->
          protocol == Protocol.GLOO ? Optional.of(found.body.getBytes()) : ofPrefix(found.body, path(key)));
    });
  }

  /** Returns the value of a path; the answer holds every key that begins with the path. */
  private Optional<byte[]> ofPrefix(Buffer json, String path) {
    try {
      return Optional.ofNullable(new JsonObject(json).getString(path)).map(t -> t.getBytes(StandardCharsets.UTF_8));
    } catch (DecodeException | ClassCastException e) {
      throw new InvalidInput(this + " answered GET " + path + " with no JSON object of texts: name the URL of gloo's "
          + "server", e);
    }
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    Map<String, String> condition = expected.map(held -> Map.of("If-Match", tag(held)))
        .orElse(Map.of("If-None-Match", "*"));
    return send(HttpMethod.PUT, key, condition, value).compose(answer -> conditional(answer, "PUT", key));
  }

  @Override
  Future<Boolean> remove(String key) {
    if (protocol == Protocol.LAUNCH) {
      return send(HttpMethod.DELETE, key, Map.of(), null).compose(answer -> answer.status == 404
          ? Future.succeededFuture(false) : expect(answer, "DELETE", key).map(true));
    }
    return send(HttpMethod.DELETE, key, Map.of("If-Match", "*"), null)
        .compose(answer -> conditional(answer, "DELETE", key));
  }

  private Future<Boolean> conditional(Answer answer, String method, String key) {
    if (answer.status == 412) {
      return Future.succeededFuture(false);
    }
    return expect(answer, method, key).compose(done -> done.tag != null ? Future.succeededFuture(true)
        : Future.failedFuture(new InvalidInput(this + " does not know conditions: it is PaddlePaddle's own. It can set and "
            + "get; for more take Regatta's rendezvous (rendezvous.http), or give every member its rank")));
  }

  private static String tag(byte[] value) {
    try {
      return String.format("\"%064x\"", new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(value)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** @param challenge of a server that does not know of this store's proof; null: there is none */
  private record Answer(int status, String tag, Buffer body, String challenge) {}

  private static String challenge(HttpClientResponse response) {
    String header = response.getHeader("www-authenticate");
    return CallAuthorization.isChallenge(header) ? header : null;
  }

  private Future<String> greet(String header) {
    return greetings.request(new RequestOptions().setMethod(HttpMethod.GET).setHost(server.host())
        .setPort(server.port()).setURI("/")
        .setTimeout(REQUEST_MILLIS).putHeader(Token.HEADER, header)).compose(HttpClientRequest::send)
        .map(HttpStore::challenge);
  }

  private Future<Answer> send(HttpMethod method, String key, Map<String, String> headers, byte[] value) {
    if (protocol == Protocol.LAUNCH && value != null && !isText(value)) {
      return Future.failedFuture(new InvalidInput("value of key " + key + " is no UTF-8 text, and launch's protocol carries "
          + "no other; take gloo's"));
    }
    return send(method, key, headers, value, true);
  }

  /** @param again whether the request is repeated if the server has become another process, which must prove itself */
  private Future<Answer> send(HttpMethod method, String key, Map<String, String> headers, byte[] value, boolean again) {
    RequestOptions options = new RequestOptions().setMethod(method).setHost(server.host()).setPort(server.port())
        .setURI(path(key)).setTimeout(REQUEST_MILLIS);
    if (shown != security.version()) {
      shown = security.version();
      security.renew(http, false);
    }
    return http.request(options)
        .compose(request -> authorization
            .header(request.connection().remoteAddress(), method.name(), path(key), this::greet)
            .onFailure(e -> request.exceptionHandler(reset -> { }).reset()).map(header -> {
              if (header != null) {
                request.putHeader(Token.HEADER, header);
              }
              return request;
            }))
        .compose(request -> {
          headers.forEach(request::putHeader);
          Future<HttpClientResponse> sent = value == null ? request.send() : request.send(Buffer.buffer(value));
          // Here, on the request's context: on the caller's own thread the body could be requested too late, and would
          // never arrive.
          return sent.compose(response -> response.body()
              .map(body -> new Answer(response.statusCode(), response.getHeader("ETag"), body, challenge(response))));
        })
        .timeout(2 * REQUEST_MILLIS, TimeUnit.MILLISECONDS)
        .compose(answer -> {
          if (answer.status != 401 || answer.challenge == null || !again) {
            return Future.succeededFuture(answer);
          }
          authorization.forget();
          return send(method, key, headers, value, false);
        })
        .recover(e -> Future.failedFuture(e instanceof RegattaException ? e : lost(method, key, e)));
  }

  private RegattaException lost(HttpMethod method, String key, Throwable e) {
    InvalidInput refused = ConnectFailure.refusal(toString(), e, security);
    return refused != null ? refused : new PeerLost(this + " did not answer " + method + " " + path(key) + ": "
        + SeedProbe.reason(e) + ConnectFailure.hint(e, security), e);
  }

  private static boolean isText(byte[] value) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  private Future<Answer> expect(Answer answer, String method, String key) {
    if (answer.status == 200) {
      return Future.succeededFuture(answer);
    }
    String text = this + " answered " + method + " " + path(key) + " with " + answer.status + " "
        + answer.body.toString().strip();
    return Future.failedFuture(answer.status == 507 || answer.status == 413 || answer.status == 503 ? new Overloaded(text)
        : new InvalidInput(answer.status == 401 ? text : text + ": name the URL of a server of that protocol"));
  }

  @Override
  Future<Void> end() {
    return greetings == null ? http.close() : greetings.close().eventually(http::close);
  }

  @Override
  public String toString() {
    return "store at " + (security.hasTls() ? "https://" : "http://") + server + prefix;
  }
}
