package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/**
 * Protection of a process's ports: section {@code node.security}. Immutable.
 *
 * @param open whether a process may listen beyond loopback with neither a token nor mutual TLS
 * @param launchTokenFile file with the token that a launcher made for the job; empty: none
 * @param tokenPollMs how often to check whether the file of the token has changed, ms; 0: never
 */
public record SecurityConfig(
    @Setting(value = "false", doc = "Whether the process may listen beyond loopback without a token and without "
        + "mutual TLS. Then everybody who reaches its ports can read and change what is trained.")
    boolean open,

    @Setting(doc = "Set by `regatta launch` for what it starts: file with the token that it made for the job. Used if "
        + "neither node.token nor node.token_file is given.")
    String launchTokenFile,

    @Setting(value = "10000", unit = "ms", doc = "How often to look whether token_file has changed. 0: never.")
    long tokenPollMs) {

  public SecurityConfig {
    if (tokenPollMs < 0) {
      throw new InvalidInput("token_poll_ms must be at least 0, got " + tokenPollMs);
    }
  }
}
