package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The TLS and the token of a node over its life: says at the start who may call, and looks for new certificates until the end. */
final class NodeSecurity {

  private static final Logger LOG = LoggerFactory.getLogger(NodeSecurity.class);

  private final PeerSecurity security;
  private final Vertx vertx;
  private final long timer;

  /**
   * Begins to look.
   *
   * @param pollMillis how often to look; 0: never
   */
  NodeSecurity(PeerSecurity security, Vertx vertx, long pollMillis, String role) {
    this.security = security;
    this.vertx = vertx;
    this.timer = !security.hasTls() || pollMillis == 0 ? -1 : vertx.setPeriodic(pollMillis,
        id -> vertx.executeBlocking(security::reload, false).onFailure(e -> LOG.warn("{}: cannot look at the files of node.tls: {}", role,
            e.toString())));
  }

  /**
   * Refuses a node that would listen beyond loopback although whoever reaches its ports may call. Names of hosts are not
   * resolved: only {@code localhost} and addresses of the loopback network count as loopback.
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
      throw new InvalidInput(role + " would listen on " + String.join(" and ", open) + ", which other machines may reach, without a token "
          + "and without mutual TLS: set node.token_file to a file with the job's token (openssl rand -hex 32), or "
          + "node.security.open: true if everybody who reaches the ports may read and change what is trained (docs/security.md)");
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
    boolean token = !security.token().isNone();
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
          token ? "read what it sends and receives" : (train ? security.isMutual() ? "train along" : "read and change what is trained"
              : "read its metrics and what it waits for") + (security.isMutual() ? ", with a certificate of that CA" : ""));
    }
  }

  void close() {
    vertx.cancelTimer(timer);
  }
}
