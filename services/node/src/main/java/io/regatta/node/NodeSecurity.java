package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
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
 * TLS and tokens of a node: logs at the start how peers authenticate, and looks for new certificates and tokens until
 * the end.
 */
final class NodeSecurity {

  private static final Logger LOG = LoggerFactory.getLogger(NodeSecurity.class);

  private final PeerSecurity security;
  private final Vertx vertx;
  private final String role;
  /** Reads files; null: there is nothing to look for. */
  private final WorkerExecutor files;
  private final List<Long> timers = new ArrayList<>();
  private volatile boolean closed;

  /**
   * Begins to look.
   *
   * @param tlsMillis how often to look at the files of TLS, if there is TLS; 0: never
   * @param tokenMillis how often to look at the file of the token; 0: never, or there is none
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

  /** A look that comes while the one before is under way, because a file system hangs, is left out. */
  private void look(long millis, String at, Callable<?> read) {
    AtomicBoolean looking = new AtomicBoolean();
    timers.add(vertx.setPeriodic(millis, id -> {
      if (closed || !looking.compareAndSet(false, true)) {
        return;
      }
      Future.succeededFuture().compose(v -> files.executeBlocking(read)).onComplete(done -> {
        looking.set(false);
        if (done.failed() && !closed) { // one that is closed takes no more looks
          LOG.warn("{}: cannot look at {}: {}", role, at, done.cause().toString());
        }
      });
    }));
  }

  /**
   * Refuses a node that would listen beyond loopback and let everybody call. Names of hosts are not resolved: only
   * {@code localhost} and addresses of the loopback network count as loopback.
   *
   * @param services address that services listen on; empty: there are none
   * @param admin address that the admin server listens on; empty: there is none
   * @throws InvalidInput one line with the addresses, and what to configure
   */
  static void refuseOpenPorts(NodeConfig config, String role, String services, String admin) {
    if (config.security().open() || config.isAuthenticated()) {
      return;
    }
    List<String> open = new ArrayList<>();
    if (!services.isEmpty() && !PublishedAddress.isLoopback(services)) {
      open.add(services);
    }
    if (!admin.isEmpty() && !PublishedAddress.isLoopback(admin)) {
      open.add(admin.equals(services) ? "its admin port" : admin + " (admin port)");
    }
    if (!open.isEmpty()) {
      throw new InvalidInput(role + " would listen on " + String.join(" and ", open) + ", which other machines may "
          + "reach, without a token and without mutual TLS: make a token with (umask 077 && openssl rand -hex 32 > token), "
          + "and give the same file to every process of the job with --set node.token_file=token or "
          + "REGATTA_NODE_TOKEN_FILE; or set node.security.open: true if everybody who reaches the ports may read and "
          + "change what is trained (docs/security.md)");
    }
  }

  PeerSecurity peers() {
    return security;
  }

  /**
   * Logs how peers authenticate, and warns of a port beyond loopback that lacks TLS or a token.
   *
   * @param services address that services listen on; empty: there are none
   * @param admin where the admin server listens; null: there is none
   */
  void sayWhoMayCall(String role, String services, HostPort admin) {
    boolean token = !security.tokens().isNone();
    if (!services.isEmpty() && (security.hasTls() || token)) {
      LOG.info("{} calls and is called with {}", role, security);
    }
    List<String> open = new ArrayList<>();
    if (!services.isEmpty() && !PublishedAddress.isLoopback(services)) {
      open.add(services);
    }
    boolean train = !open.isEmpty();
    if (admin != null && !PublishedAddress.isLoopback(admin.host())) {
      open.add(admin + " (admin port)");
    }
    if ((!security.hasTls() || !token) && !open.isEmpty()) {
      LOG.warn("{} listens on {}, which others can reach, {}: whoever does can {} (node.tls, node.token; docs/security.md)", role,
          String.join(" and ", open), security.hasTls() ? "without a token" : token ? "without TLS" : "without TLS and without a token",
          token ? "read what it sends and receives"
              : (train ? security.isMutual() ? "train along" : "read and change what is trained"
              : "read its metrics and what it waits for") + (security.isMutual() ? ", with a certificate of that CA" : ""));
    }
  }

  void close() {
    closed = true;
    timers.forEach(vertx::cancelTimer);
    if (files != null) {
      files.close();
    }
  }
}
