package io.regatta.node;

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

  PeerSecurity peers() {
    return security;
  }

  /**
   * A port that others can reach, and that lets everybody in, is not opened without a word.
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
          token ? "listen, and learn the token" : (train ? security.isMutual() ? "train along" : "read and change what is trained"
              : "read its metrics and what it waits for") + (security.isMutual() ? ", with a certificate of that CA" : ""));
    }
  }

  void close() {
    vertx.cancelTimer(timer);
  }
}
