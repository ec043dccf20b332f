package io.regatta.node;

import io.regatta.node.settings.Setting;

/**
 * What protects the ports of a process: section {@code node.security}. Immutable.
 *
 * @param open whether a process may listen beyond loopback with neither a token nor mutual TLS
 * @param launchTokenFile file with the token that a launcher made for the job; empty: none
 */
public record SecurityConfig(
    @Setting(value = "false", doc = "Whether the process may listen beyond loopback without a token and without mutual TLS. Then whoever "
        + "reaches its ports can read and change what is trained.")
    boolean open,

    @Setting(doc = "Set by `regatta launch` for what it starts: file with the token that it made for the job. Used if neither node.token "
        + "nor node.token_file is given.")
    String launchTokenFile) {}
