package io.regatta.protocol.security;

import io.netty.channel.ChannelHandler;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.connection.Admission;
import io.regatta.protocol.connection.ConnectionLimiter;
import io.regatta.protocol.connection.ConnectionLimits;
import io.regatta.protocol.vertx.LimitedVertx;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Protection of the ports of a process: TLS, and the job's token. All servers and clients of the process are made with
 * it. Certificates may be replaced on disk: after {@link #reload} servers that listen, and clients that connect next,
 * show the new ones. Open connections stay. Thread-safe.
 */
public final class PeerSecurity {
  /** Anybody may call, and everything can be read on its way. */
  public static final PeerSecurity NONE = new PeerSecurity(null, null,
      new LiveTokens(Tokens.NONE, null, SystemClock.get()::epochMillis), ConnectionLimits.DEFAULTS, false);

  private static final Logger LOG = LoggerFactory.getLogger(PeerSecurity.class);

  /** Null: no TLS. */
  private final TlsFiles files;
  private final LiveTokens tokens;
  private final TokenGuard guard;
  private final ConnectionLimits limits;
  private final boolean open;
  /** Servers with TLS, as long as somebody holds them, and what they show; also the lock of the next two fields. */
  private final Map<HttpServer, Shown> servers = new WeakHashMap<>();
  private volatile TlsMaterial material;
  /** The fault of the files when they were last looked at, and whether it has been logged. */
  private String trouble;
  private boolean complained;

  /** The certificate that a server shows, and the clients that it lets in. */
  private static final class Shown {
    private final ClientAuth auth;
    private final boolean alpn;
    private TlsMaterial material;

    private Shown(ClientAuth auth, boolean alpn, TlsMaterial material) {
      this.auth = auth;
      this.alpn = alpn;
      this.material = material;
    }
  }

  private PeerSecurity(TlsFiles files, TlsMaterial material, LiveTokens tokens, ConnectionLimits limits, boolean open) {
    this.files = files;
    this.material = material;
    this.tokens = tokens;
    this.limits = limits;
    this.open = open;
    this.guard = new TokenGuard(tokens, this::isPrivate);
  }

  /**
   * Reads the certificates. Blocks for the time of that.
   *
   * @param files null: no TLS
   * @throws InvalidInput one line that says what is wrong with which file
   */
  public static PeerSecurity of(TlsFiles files, Token token) {
    return of(files, token, ConnectionLimits.DEFAULTS);
  }

  /** As {@link #of(TlsFiles, Tokens, Supplier, ConnectionLimits)}, with the default limits. */
  static PeerSecurity of(TlsFiles files, Tokens tokens, Supplier<Tokens> file) {
    return of(files, tokens, file, ConnectionLimits.DEFAULTS);
  }

  /** As {@link #of(TlsFiles, Token)}, with other limits of the connections of each port. */
  public static PeerSecurity of(TlsFiles files, Token token, ConnectionLimits limits) {
    return of(files, Tokens.of(token), null, limits);
  }

  /**
   * Reads the certificates. Blocks for the time of that.
   *
   * @param files null: no TLS
   * @param file reads the tokens again, for {@link #reloadTokens}; null: they stay
   * @param limits of the connections of each port by itself
   * @throws InvalidInput one line that says what is wrong with which file
   */
  public static PeerSecurity of(TlsFiles files, Tokens tokens, Supplier<Tokens> file, ConnectionLimits limits) {
    return files == null && tokens.isNone() && limits.equals(NONE.limits) ? NONE
        : new PeerSecurity(files, files == null ? null : TlsMaterial.read(files),
            new LiveTokens(tokens, file, SystemClock.get()::epochMillis), limits, false);
  }

  /** Returns the same protection without TLS, for connections that never leave the kernel. */
  public PeerSecurity withoutTls() {
    return files == null ? this : new PeerSecurity(null, null, tokens, limits, open);
  }

  /**
   * Returns the same limits of connections without TLS and token, for a port that is open to everybody. Unlike
   * {@link #NONE} it says so in words: it is a permission to listen beyond loopback.
   */
  public PeerSecurity open() {
    return new PeerSecurity(null, null, new LiveTokens(Tokens.NONE, null, SystemClock.get()::epochMillis), limits,
        true);
  }

  /** Returns true if other machines may reach a port: each caller must authenticate, or {@link #open} was said. */
  public boolean mayListenBeyondLoopback() {
    return open || isMutual() || !tokens.now().isNone();
  }

  private static boolean isThisMachine(SocketAddress address) {
    if (address == null || address.isDomainSocket()) {
      return address != null;
    }
    String ip = address.hostAddress();
    try {
      return ip != null && InetAddress.getByName(ip).isLoopbackAddress(); // a literal: nothing is resolved
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /**
   * Returns true if a client may send the token as it is to its peer. Over TLS a certificate says who the peer is, and
   * the directory of a Unix domain socket belongs to this user alone. On loopback another user of this machine may have
   * taken the port first.
   */
  boolean mayShowToken(SocketAddress peer) {
    return hasTls() || peer != null && peer.isDomainSocket();
  }

  /** Returns true if nobody on the way could read the token that a client has sent from this address as it is. */
  private boolean isPrivate(SocketAddress client) {
    return hasTls() || isThisMachine(client);
  }

  ProofSession.Greeting greeting() {
    return new ProofSession.Greeting(token(), SystemClock.get()::nanos);
  }

  public boolean hasTls() {
    return files != null;
  }

  /** Returns true if each caller must have a certificate. */
  public boolean isMutual() {
    return files != null && files.mutual();
  }

  /**
   * Returns the token that this process shows now; another one once its file has changed, or the first one has expired.
   */
  public Token token() {
    return tokens.shown();
  }

  /** Returns the tokens that this process takes now. */
  public Tokens tokens() {
    return tokens.now();
  }

  /**
   * Reads the file of the tokens again, if there is one. Calls that come, and calls that are made, are judged by what
   * is in it from then on; streams that are open stay so. Blocks.
   */
  public void reloadTokens() {
    tokens.reload();
  }

  /**
   * Returns a server whose clients must have a certificate if TLS is mutual; it has no handlers yet and does not
   * listen.
   */
  public HttpServer server(Vertx vertx, HttpServerOptions options) {
    return server(vertx, options, isMutual() ? ClientAuth.REQUIRED : ClientAuth.NONE);
  }

  /**
   * Returns a server of a port at which some calls are open to clients without a certificate: it has to check each
   * call.
   */
  public HttpServer askingServer(Vertx vertx, HttpServerOptions options) {
    return server(vertx, options, isMutual() ? ClientAuth.REQUEST : ClientAuth.NONE);
  }

  private HttpServer server(Vertx vertx, HttpServerOptions wanted, ClientAuth clients) {
    HttpServerOptions options = new HttpServerOptions(wanted); // a caller may make several servers from the same
    ConnectionLimits.apply(options);
    boolean ownsIdleTimeout = options.getIdleTimeout() == 0;
    if (ownsIdleTimeout) {
      options.setIdleTimeout(ConnectionLimits.IDLE_SECONDS).setIdleTimeoutUnit(TimeUnit.SECONDS);
    }
    long streams = wanted.getInitialSettings().getMaxConcurrentStreams();
    Supplier<ChannelHandler> limiter = () -> new ConnectionLimiter(limits, ownsIdleTimeout, streams);
    if (files == null) {
      return LimitedVertx.server(vertx, options, limiter);
    }
    synchronized (servers) { // no look at the files comes between what it gets and its being known to have it
      TlsMaterial now = material;
      if (!now.hasCertificate()) {
        throw new InvalidInput("this process opens a port with TLS, but node.tls.certificate and node.tls.key are "
            + "missing: give its certificate");
      }
      options.setUseAlpn(options.isHttp2ClearTextEnabled()); // who takes HTTP/2 without TLS takes it with it
      options.setSsl(true).setKeyCertOptions(now.identity()).setTrustOptions(now.trust());
      options.setEnabledSecureTransportProtocols(TlsMaterial.PROTOCOLS);
      HttpServer server = LimitedVertx.server(vertx, options.setClientAuth(clients), limiter);
      server.exceptionHandler(ConnectFailure::ofClient);
      return renewed(server, clients, options.isUseAlpn());
    }
  }

  /** Lets {@link #reload} give a server new certificates; it shows the current ones now. */
  HttpServer renewed(HttpServer server, ClientAuth clients, boolean alpn) {
    synchronized (servers) {
      servers.put(server, new Shown(clients, alpn, material));
    }
    return server;
  }

  /** Adds the settings with which a client is admitted; the token comes with each call. */
  public HttpClientOptions client(HttpClientOptions options) {
    TlsMaterial now = material;
    if (now != null) {
      options.setSsl(true).setUseAlpn(speaksHttp2(options)).setTrustOptions(now.trust())
          .setVerifyHost(files.verifyHost());
      options.setEnabledSecureTransportProtocols(TlsMaterial.PROTOCOLS);
      if (now.hasCertificate()) {
        options.setKeyCertOptions(now.identity());
      }
    }
    return options;
  }

  private static boolean speaksHttp2(HttpClientOptions options) {
    return options.getProtocolVersion() == HttpVersion.HTTP_2;
  }

  /**
   * Returns TLS of one connection that Vert.x does not make, with the certificates of now: the same protocols, trust and
   * names as at all other ports. Not to be called without TLS.
   *
   * @param client this process connects; otherwise it has accepted
   * @param host under which a client calls its peer; of a server the peer's address
   * @param application name of the protocol that both sides agree on (ALPN)
   */
  public SSLEngine engine(boolean client, String host, int port, String application) {
    return material.engine(client, host, port, application);
  }

  /** Returns an object that is another one after each change of the certificates; null without TLS. */
  public Object version() {
    return material;
  }

  /** Lets a client show the current certificate on its next connections. */
  public void renew(HttpClientAgent client, boolean alpn) {
    TlsMaterial now = material;
    if (now != null) {
      client.updateSSLOptions(now.client(alpn))
          .onFailure(e -> LOG.warn("the new certificate cannot be used: {}", e.toString()));
    }
  }

  /** Returns a handler that forwards calls with the token, and answers the others with what is missing. */
  public Handler<HttpServerRequest> guard(Handler<HttpServerRequest> calls) {
    return request -> {
      if (admits(request)) {
        calls.handle(request);
      }
    };
  }

  /**
   * Returns true if the sender of a call has shown the token, which authenticates the connection. Otherwise the call is
   * refused, and has been answered, unless the connection has made too many of them.
   */
  public boolean admits(HttpServerRequest request) {
    Admission connection = Admission.of(request.connection());
    if (connection != null && !connection.mayCall()) {
      return false;
    }
    boolean admitted = guard.admits(request);
    if (admitted && connection != null) {
      connection.admit();
    }
    return admitted;
  }

  /**
   * Returns true if the sender of this call, which is open to everybody, could make another one that is not. It has
   * shown a certificate and the token, where they are needed. Answers nothing.
   *
   * @param path of the other call
   */
  public boolean couldCall(HttpServerRequest request, String path) {
    return (!isMutual() || hasCertificate(request)) && guard.couldCall(request, path);
  }

  /** Returns true if the sender of this call has shown a certificate, which the handshake has checked. */
  public static boolean hasCertificate(HttpServerRequest request) {
    try {
      return request.sslSession() != null && request.sslSession().getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException none) {
      return false;
    }
  }

  /**
   * Returns a handler for calls that are open to everybody, such as those of probes. If there is a token or mutual TLS, they
   * authenticate no connection without it, and a connection may make few of them before it authenticates.
   */
  public Handler<HttpServerRequest> open(Handler<HttpServerRequest> calls) {
    return request -> {
      Admission connection = Admission.of(request.connection());
      if (connection != null && tokens.isNone() && (!isMutual() || !request.isSSL() || hasCertificate(request))) {
        connection.admit();
      }
      if (connection == null || connection.mayCall()) {
        calls.handle(request);
      }
    };
  }

  /**
   * Lets a connection stay without authentication for the time of a call that is open to everybody. On its event loop.
   *
   * @return what to run at the end of the call
   */
  public static Runnable keepWithoutToken(HttpConnection connection) {
    Admission admission = Admission.of(connection);
    return admission == null ? () -> { } : admission.keep();
  }

  /**
   * Reads the files if they have changed, and gives them to all servers that listen and do not use them yet. A server
   * that did not listen then, or could not take them, gets them at the next look. Files that do not fit each other are
   * left alone, and the former ones stay in use; if that lasts until the next look, one line says so. Blocks while it
   * reads.
   *
   * @return completes when the servers have been asked; never fails
   */
  public Future<Void> reload() {
    if (files == null) {
      return Future.succeededFuture();
    }
    TlsMaterial read;
    try {
      read = TlsMaterial.read(files);
    } catch (InvalidInput e) {
      complain(e.getMessage());
      return Future.succeededFuture();
    }
    List<Future<Boolean>> updates = new ArrayList<>();
    synchronized (servers) {
      trouble = null;
      complained = false;
      if (!read.same(material)) {
        material = read;
        LOG.info("the files of node.tls have changed: new connections use the {}", read);
      }
      servers.forEach((server, shown) -> {
        if (shown.material != material) {
          updates.add(update(server, shown, material));
        }
      });
    }
    return Future.join(updates).<Void>mapEmpty().otherwiseEmpty();
  }

  private Future<Boolean> update(HttpServer server, Shown shown, TlsMaterial now) {
    Future<Boolean> update;
    try {
      update = server.updateSSLOptions(now.server(shown.auth, shown.alpn));
    } catch (RuntimeException e) { // thrown by one that does not listen, not yet or not any more
      LOG.debug("a server does not listen, and is not asked to take the new certificate: {}", e.toString());
      return Future.succeededFuture(false);
    }
    return update.onComplete(done -> {
      if (done.succeeded()) {
        synchronized (servers) {
          shown.material = now;
        }
      } else {
        LOG.warn("the server at port {} does not take the {}: {}; it continues with the former one, and is asked again "
            + "at the next look", server.actualPort(), now, done.cause().toString());
      }
    });
  }

  private void complain(String what) {
    boolean say;
    synchronized (servers) {
      say = what.equals(trouble) && !complained;
      complained |= say;
      trouble = what;
    }
    if (say) {
      LOG.warn("{}; what was read before is used on", what);
    }
  }

  @Override
  public String toString() {
    return (files == null ? "no TLS" : (files.mutual() ? "mutual TLS, " : "TLS, ") + material) + ", " + tokens.now();
  }
}
