package io.regatta.node.address;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;

/**
 * The address under which this process is reached, and why that one. Blocking (name resolution); used on the starting
 * thread only.
 *
 * @param address IP address, as text
 * @param reason for the log
 */
public record PublishedAddress(String address, String reason) {

  /**
   * The configured address or interface, or else the one that routes to the first remote seed (to the first seed, if
   * none is remote), or else loopback.
   *
   * @param configured address, host name or interface; blank: none
   * @throws InvalidInput if it is none of this machine
   */
  public static PublishedAddress choose(String configured, List<HostPort> seeds) {
    if (!configured.isBlank()) {
      return new PublishedAddress(named(configured), "as configured: " + configured);
    }
    HostPort loopback = null;
    String unresolved = null;
    for (HostPort seed : seeds) {
      try {
        InetAddress at = InetAddress.getByName(seed.host());
        if (!at.isLoopbackAddress()) {
          return new PublishedAddress(routeTo(at, seed), "routes to seed " + seed);
        }
        loopback = loopback == null ? seed : loopback;
      } catch (UnknownHostException e) {
        unresolved = seed.toString();
      }
    }
    if (loopback != null && unresolved == null) {
      return new PublishedAddress("127.0.0.1", "every seed is on this machine");
    }
    if (unresolved != null) {
      return new PublishedAddress(firstRemote(), "seed " + unresolved + " cannot be resolved yet");
    }
    return new PublishedAddress("127.0.0.1", "no seeds: this process is alone");
  }

  private static String named(String configured) {
    try {
      NetworkInterface named = NetworkInterface.getByName(configured);
      if (named != null) {
        return Collections.list(named.getInetAddresses()).stream()
            .filter(Inet4Address.class::isInstance).findFirst()
            .or(() -> Collections.list(named.getInetAddresses()).stream().findFirst())
            .orElseThrow(() -> new InvalidInput("node.cluster.address: interface " + configured + " has no address"))
            .getHostAddress();
      }
      InetAddress address = InetAddress.getByName(configured);
      if (address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) == null) {
        throw new InvalidInput("node.cluster.address: " + configured + " is no address, host name or interface of this "
            + "machine");
      }
      return address.getHostAddress();
    } catch (UnknownHostException e) {
      throw new InvalidInput("node.cluster.address: " + configured + " cannot be resolved and names no interface", e);
    } catch (SocketException e) {
      throw new InvalidInput("node.cluster.address: cannot look at interface " + configured + ": " + e.getMessage(), e);
    }
  }

  /**
   * A host to bind to, as it is.
   *
   * @param key of the configuration, for the message
   * @throws InvalidInput if it cannot be resolved, or nothing can listen on it here
   */
  public static String bindable(String key, String host) {
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getByName(host))) {
      return host;
    } catch (UnknownHostException e) {
      throw new InvalidInput(key + ": " + host + " cannot be resolved: give an address or name of this machine", e);
    } catch (IOException e) {
      throw new InvalidInput(key + ": cannot listen on " + host + ", which is no address of this machine ("
          + e.getMessage() + ")", e);
    }
  }

  /** The kernel's choice of source address: connecting a datagram socket sends nothing. */
  private static String routeTo(InetAddress seed, HostPort at) {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(seed, at.port()));
      if (!socket.getLocalAddress().isAnyLocalAddress()) {
        return socket.getLocalAddress().getHostAddress();
      }
    } catch (IOException | java.io.UncheckedIOException e) {
      // no route now: fall through, and let the connection say so
    }
    return firstRemote();
  }

  private static String firstRemote() {
    try {
      for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        if (each.isUp() && !each.isLoopback()) {
          for (InetAddress address : Collections.list(each.getInetAddresses())) {
            if (address instanceof Inet4Address) {
              return address.getHostAddress();
            }
          }
        }
      }
    } catch (SocketException e) {
      throw new InvalidInput("cannot look at this machine's network interfaces: " + e.getMessage()
          + "; set node.cluster.address", e);
    }
    return "127.0.0.1";
  }

  /** Whether the seed is this process itself: one of this machine's addresses, and this port. */
  public static boolean isHere(HostPort seed, int port) {
    if (port == 0 || seed.port() != port) {
      return false;
    }
    try {
      InetAddress address = InetAddress.getByName(seed.host());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return false;
    }
  }
}
