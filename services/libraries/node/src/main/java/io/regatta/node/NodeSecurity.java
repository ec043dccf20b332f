package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS and tokens of a node: logs at the start how peers authenticate, and reloads changed certificates and tokens until
 * the end.
 */
final class NodeSecurity {

  private static final Logger LOG = LoggerFactory.getLogger(NodeSecurity.class);

  private final PeerSecurity security;
  private final Vertx vertx;
  private final String role;
  /** Reads files; null: no file is watched. */
  private final WorkerExecutor files;
  private final List<Long> timers = new ArrayList<>();
  private volatile boolean closed;

  /**
   * Starts to watch the files.
   *
   * @param tlsMillis how often to check the files of TLS, if there is TLS; 0: never
   * @param tokenMillis how often to check the file of the token; 0: never, or there is none
   */
  NodeSecurity(PeerSecurity security, Vertx vertx, long tlsMillis, long tokenMillis, String role) {
    this.security = security;
    this.vertx = vertx;
    this.role = role;
    boolean tls = security.hasTls() && tlsMillis > 0;
    this.files = tls || tokenMillis > 0 ? vertx.createSharedWorkerExecutor("regatta-security", 1) : null;
    if (tls) {
      look(tlsMillis, "the files of node.tls", security::reload);
    }
    if (tokenMillis > 0) {
      look(tokenMillis, "node.token_file", () -> {
        security.reloadTokens();
        return null;
      });
    }
  }

  /** Checks the files periodically. A check is skipped while the one before still runs, because a file system hangs. */
  private void look(long millis, String at, Callable<?> read) {
    AtomicBoolean looking = new AtomicBoolean();
    timers.add(vertx.setPeriodic(millis, id -> {
      if (closed || !looking.compareAndSet(false, true)) {
        return;
      }
      Future.succeededFuture().compose(v -> files.executeBlocking(read)).onComplete(done -> {
        looking.set(false);
        if (done.failed() && !closed) { // after the close, changes are not looked for any more
          LOG.warn("{}: cannot look at {}: {}", role, at, done.cause().toString());
        }
      });
    }));
  }

  /**
   * Refuses a node that would listen beyond loopback and let everybody call.
   *
   * @throws InvalidInput one line with the addresses, and what to configure
   */
  static void refuseOpenPorts(NodeConfig config, String role, ListenAddresses addresses) {
    refuseOpenPorts(config.security().open() || config.isAuthenticated(), role, addresses,
        "make a token with (umask 077 && openssl rand -hex 32 > token), "
        + "and give the same file to every process of the job with --set node.token_file=token or "
        + "REGATTA_NODE_TOKEN_FILE; or set node.security.open: true if everybody who reaches the ports may read and "
        + "change what is trained");
  }

  /**
   * Refuses a port of a program without a node that would listen beyond loopback and let everybody call.
   *
   * @throws InvalidInput one line with the address, and what to configure
   */
  static void refuseOpenPort(PeerSecurity security, String role, String address) {
    refuseOpenPorts(security.mayListenBeyondLoopback(), role, new ListenAddresses(address, "", ""),
        "give its options the same token in every process, StreamOptions.withSecurity(PeerSecurity.of(null, "
        + "Token.of(TEXT, FROM))); or PeerSecurity.NONE.open() if everybody who reaches the port may read and change "
        + "what it exchanges");
  }

  private static void refuseOpenPorts(boolean mayListen, String role, ListenAddresses addresses, String advice) {
    if (!mayListen && !addresses.beyondLoopback().isEmpty()) {
      throw new InvalidInput(role + " would listen on " + addresses.beyondLoopbackText() + ", which other machines may "
          + "reach, without a token and without mutual TLS: " + advice + " (docs/security.md)");
    }
  }

  PeerSecurity peers() {
    return security;
  }

  /**
   * Logs how peers authenticate, and warns of a port beyond loopback that lacks TLS or a token.
   *
   * @param addresses where the node listens
   */
  void sayWhoMayCall(String role, ListenAddresses addresses) {
    boolean token = !security.tokens().isNone();
    if (!addresses.services().isEmpty() && (security.hasTls() || token)) {
      LOG.info("{} calls and is called with {}", role, security);
    }
    if (security.hasTls() && token || addresses.beyondLoopback().isEmpty()) {
      return;
    }
    String missing = security.hasTls() ? "without a token" : token ? "without TLS" : "without TLS and without a token";
    String harm = token ? "read what it sends and receives"
        : (!addresses.isAdminAlone() ? security.isMutual() ? "train along" : "read and change what is trained"
        : "read its metrics and what it waits for") + (security.isMutual() ? ", with a certificate of that CA" : "");
    LOG.warn("{} listens on {}, which others can reach, {}: they can {} (node.tls, node.token; "
        + "docs/security.md)", role, addresses.beyondLoopbackText(), missing, harm);
  }

  void close() {
    closed = true;
    timers.forEach(vertx::cancelTimer);
    if (files != null) {
      files.close();
    }
  }
}
