package io.regatta.node;

/** The port for people and monitoring. Validated in the constructor, immutable. */
public record AdminConfig(
    @Setting(value = "true", doc = "Whether to serve /health, /ready, /metrics and /why.")
    boolean enabled,

    @Setting(value = "0", doc = "Port of the admin server; 0: any free one, printed in the ready line.")
    int port,

    @Setting(doc = "Address to bind the admin server to; empty: the node's host.")
    String host) {

  public AdminConfig {
    ClusterConfig.port("port", port);
  }
}
