package io.regatta.node.admin;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.settings.Setting;

/** The port for people and monitoring. Validated in the constructor, immutable. */
public record AdminConfig(
    @Setting(value = "true", doc = "Whether to serve /health, /ready, /metrics and /why.")
    boolean enabled,

    @Setting(value = "0", doc = "Port of the admin server; 0: any free one, printed in the ready line.")
    int port,

    @Setting(doc = "Address to bind the admin server to; empty: that of the services.")
    String host,

    @Setting(value = "2000", unit = "ms", doc = "How long an event loop, and the directory, may take to answer before /health says DOWN.")
    int healthTimeoutMs) {

  public AdminConfig {
    HostPort.check("port", port);
    if (healthTimeoutMs < 1) {
      throw new InvalidInput("health_timeout_ms must be at least 1: got " + healthTimeoutMs);
    }
  }
}
