package io.regatta.node;

import io.regatta.node.settings.Setting;
import io.regatta.protocol.connection.ConnectionLimits;

/**
 * Limits of the connections of each port: section {@code node.connections}. Validated by {@link #limits()} in the
 * constructor, immutable.
 */
public record ConnectionsConfig(
    @Setting(value = "10000", doc = "Connections that a port has open at a time; a quarter of them may be without "
        + "authentication. At a limit the oldest connection that has not authenticated is closed; if all have, the new "
        + "one is refused.")
    int max,

    @Setting(value = "1000", doc = "Connections of a port at a time from one address, of IPv6 from one /64; "
        + "from loopback half of max, if that is more.")
    int maxPerAddress,

    @Setting(value = "20000", unit = "ms", doc = "Time from a connection's start, TLS handshake included, within "
        + "which it must make a call with the job's token; without a token, any call. It is closed otherwise.")
    int authenticateMs) {

  public ConnectionsConfig {
    limits(max, maxPerAddress, authenticateMs);
  }

  ConnectionLimits limits() {
    return limits(max, maxPerAddress, authenticateMs);
  }

  private static ConnectionLimits limits(int max, int maxPerAddress, int authenticateMs) {
    return new ConnectionLimits(max, maxPerAddress, authenticateMs);
  }
}
