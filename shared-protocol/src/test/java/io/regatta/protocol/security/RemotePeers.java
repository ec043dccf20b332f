package io.regatta.protocol.security;

/** Security of processes for which every address, loopback as well, is of another machine. */
public final class RemotePeers {

  private RemotePeers() {}

  /** Without TLS, with this token: calls prove it and do not show it. */
  public static PeerSecurity of(Token token) {
    return PeerSecurity.of(null, token).withThisMachine(address -> false);
  }
}
