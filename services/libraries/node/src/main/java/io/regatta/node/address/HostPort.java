package io.regatta.node.address;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * A host name or address and a TCP port.
 *
 * @param host name, IPv4 address, or IPv6 address without brackets
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {

  /**
   * Reads {@code host:port} or {@code [ipv6]:port}.
   *
   * @param key the configuration key, for the message
   * @throws InvalidInput if it is neither
   */
  public static HostPort parse(String text, String key) {
    String trimmed = text.strip();
    int bracket = trimmed.lastIndexOf(']');
    int colon = trimmed.lastIndexOf(':');
    boolean bareIpv6 = bracket < 0 && trimmed.indexOf(':') != colon;
    boolean hasPort = colon > bracket && !bareIpv6;
    String host = hasPort ? trimmed.substring(0, colon) : trimmed;
    if (bracket >= 0) {
      host = host.replace("[", "").replace("]", "");
    }
    int port = -1;
    if (hasPort) {
      try {
        port = Integer.parseInt(trimmed.substring(colon + 1));
      } catch (NumberFormatException e) {
        port = -1;
      }
    }
    if (host.isEmpty() || host.contains(" ") || port < 1 || port > 65_535) {
      throw new InvalidInput(key + ": expected host:port, got \"" + text + "\"");
    }
    return new HostPort(host, port);
  }

  /**
   * Refuses a number that is no port to listen on.
   *
   * @param key the configuration key, for the message
   * @param port 0 to 65535; 0: any free one
   */
  public static void check(String key, int port) {
    if (port < 0 || port > 65_535) {
      throw new InvalidInput(key + " must lie in 0..65535, got " + port);
    }
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
