package io.regatta.protocol.connection;

import io.vertx.core.net.SocketAddress;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * The origin of a connection, which limits per address count by: an IPv4 address, or the first 64 bits of an IPv6
 * address. The owner of one IPv6 address has its whole /64 as a rule, and would otherwise be as many peers as it likes.
 * Stateless, any thread.
 */
public final class PeerOrigin {
  private static final int IPV6_BYTES = 16;
  private static final int PREFIX_BYTES = 8;

  private PeerOrigin() {}

  /** Returns the origin of an address: of an IPv6 address, except the loopback one, the first of its /64. */
  public static InetAddress of(InetAddress address) {
    if (!isNetwork(address)) {
      return address;
    }
    try {
      return InetAddress.getByAddress(Arrays.copyOf(Arrays.copyOf(address.getAddress(), PREFIX_BYTES), IPV6_BYTES));
    } catch (UnknownHostException e) {
      throw new IllegalStateException("16 bytes are an address", e);
    }
  }

  /** Returns the origin of a peer in words; empty of one on a Unix domain socket. */
  public static String of(SocketAddress peer) {
    if (peer == null || peer.hostAddress() == null) {
      return "";
    }
    InetAddress address = new InetSocketAddress(peer.hostAddress(), 0).getAddress(); // of digits: nothing is looked up
    return of(address).getHostAddress();
  }

  /** Returns the origin of an address for log lines, of an IPv6 address as {@code PREFIX/64}; null is this machine. */
  public static String described(InetAddress address) {
    if (address == null) {
      return "this machine";
    }
    return of(address).getHostAddress() + (isNetwork(address) ? "/64" : "");
  }

  /** Returns true if the origin of an address is a network of 64 bits, which several machines or pods may share. */
  static boolean isNetwork(InetAddress address) {
    return address instanceof Inet6Address && !address.isLoopbackAddress();
  }
}
