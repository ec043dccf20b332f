package io.regatta.node.address;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The address under which this process is reached, and the reason for the choice. Blocking (name resolution); used on
 * the starting thread only.
 *
 * @param address IP address, as text
 * @param reason for the log
 */
public record PublishedAddress(String address, String reason) {

  private static final String OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  /** An IPv4 address of the loopback network; a name such as {@code 127.example.com} may be anywhere. */
  private static final Pattern LOOPBACK_IPV4 = Pattern.compile("127(?:\\." + OCTET + "){3}");
  private static final Logger LOG = LoggerFactory.getLogger(PublishedAddress.class);
  private static final String LOOPBACK = "127.0.0.1";

  /**
   * Chooses the configured address or interface, or else the one that routes to the first remote seed. If every seed is
   * on loopback, or there is none, the choice is loopback.
   *
   * @param configured address, host name or interface; blank: none
   * @throws InvalidInput if it is none of this machine, or if a seed is elsewhere, or cannot be resolved yet, and this
   *     machine has no address but loopback
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
          InetAddress routed = routed(at, seed);
          return routed == null ? first(addresses(), "there is no route to seed " + seed + " now")
              : new PublishedAddress(text(routed), "routes to seed " + seed);
        }
        loopback = loopback == null ? seed : loopback;
      } catch (UnknownHostException e) {
        unresolved = seed.toString();
      }
    }
    if (loopback != null && unresolved == null) {
      return new PublishedAddress(LOOPBACK, "every seed is on this machine");
    }
    if (unresolved != null) {
      return first(addresses(), "seed " + unresolved + " cannot be resolved yet");
    }
    return new PublishedAddress(LOOPBACK, "no seeds: this process is alone");
  }

  /**
   * Chooses the address to publish to peers that this process meets at a rendezvous or a store. It is the configured
   * address or interface, or else the one that routes to the meeting place. It is loopback only if the meeting place
   * is, and all peers are therefore on this machine. The choice and its reason are logged in one line.
   *
   * @param configured address, host name or interface; blank: none
   * @param at the meeting place; null: one without an address (files, memory), where only the configuration can tell
   * @throws InvalidInput if the configured one is none of this machine, or if there is none that peers could reach. A
   *     meeting place that cannot be resolved may be a service that has not been started yet; then the choice is
   *     the first address that is not loopback
   */
  public static PublishedAddress toward(String configured, HostPort at) {
    PublishedAddress chosen;
    if (!configured.isBlank()) {
      chosen = new PublishedAddress(named(configured), "as configured: " + configured);
    } else if (at == null) {
      chosen = new PublishedAddress(LOOPBACK, "no address is configured, and no meeting place tells where the peers are; "
          + "configure one if any is on another machine");
    } else {
      InetAddress place = resolved(at);
      chosen = place == null ? first(addresses(), at + ", where they meet, cannot be resolved yet")
          : decide(at, place, place.isLoopbackAddress() ? place : routed(place, at), addresses());
    }
    LOG.info("peers reach this process at {}: {}", chosen.address(), chosen.reason());
    return chosen;
  }

  /**
   * Decides, given all facts.
   *
   * @param place what {@code at} resolves to
   * @param routed the kernel's source address for packets to it; null: there is no route
   * @param own this machine's addresses, of interfaces that are up
   */
  static PublishedAddress decide(HostPort at, InetAddress place, InetAddress routed, List<InetAddress> own) {
    if (place.isLoopbackAddress()) {
      return new PublishedAddress(place.getHostAddress(), at + ", where they meet, is loopback: all must be on this machine");
    }
    if (own.contains(place)) {
      return new PublishedAddress(text(place), at + ", where they meet, is on this machine");
    }
    if (routed != null && !routed.isAnyLocalAddress() && !routed.isLoopbackAddress()) {
      return new PublishedAddress(text(routed), "it routes to " + at + ", where they meet");
    }
    return first(own, "there is no route to " + at + ", where they meet, now");
  }

  /**
   * Returns the first address that peers elsewhere may reach, used when no route decides.
   *
   * @param own this machine's addresses, of interfaces that are up
   * @param why no route decides
   */
  static PublishedAddress first(List<InetAddress> own, String why) {
    return own.stream().filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
        .min(Comparator.comparing(address -> !(address instanceof Inet4Address)))
        .map(address -> new PublishedAddress(text(address), why + "; it is the first that is not loopback"))
        .orElseThrow(() -> new InvalidInput(why + ", and this machine has no address but loopback, which peers elsewhere cannot "
            + "reach: bring an interface up, or configure the host to publish (node.cluster.address; 127.0.0.1 if all are here)"));
  }

  /**
   * Returns the text without the interface of this machine ({@code fd00::7%eth0}), which has no meaning elsewhere; a
   * link-local address needs it.
   */
  private static String text(InetAddress address) {
    String text = address.getHostAddress();
    return address.isLinkLocalAddress() ? text : text.replaceFirst("%.*", "");
  }

  /**
   * Returns true if one of two peers publishes loopback and the other does not. As far as is known, they are then on
   * two machines, and one of them cannot be reached. Names are not resolved.
   *
   * @param one {@code host:port}; empty: it publishes nothing
   */
  public static boolean loopbackApart(String one, String other) {
    return !one.isEmpty() && !other.isEmpty() && isLoopbackEndpoint(one) != isLoopbackEndpoint(other);
  }

  private static boolean isLoopbackEndpoint(String endpoint) {
    return isLoopback(endpoint.substring(0, Math.max(0, endpoint.lastIndexOf(':'))).replace("[", "").replace("]", ""));
  }

  /** Returns true if a host is reachable from this machine alone, judged by its text: names are not resolved. */
  public static boolean isLoopback(String host) {
    return host.equals("localhost") || LOOPBACK_IPV4.matcher(host).matches() || host.equals("::1")
        || host.equals("0:0:0:0:0:0:0:1");
  }

  private static InetAddress resolved(HostPort at) {
    try {
      return InetAddress.getByName(at.host());
    } catch (UnknownHostException e) {
      return null;
    }
  }

  private static List<InetAddress> addresses() {
    try {
      List<InetAddress> all = new ArrayList<>();
      for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        if (each.isUp()) {
          all.addAll(Collections.list(each.getInetAddresses()));
        }
      }
      return all;
    } catch (SocketException e) {
      throw new InvalidInput("cannot look at this machine's network interfaces: " + e.getMessage()
          + "; configure the host to publish", e);
    }
  }

  private static String named(String configured) {
    try {
      NetworkInterface named = NetworkInterface.getByName(configured);
      if (named != null) {
        return Collections.list(named.getInetAddresses()).stream()
            .min(Comparator.comparing(InetAddress::isLinkLocalAddress).thenComparing(address -> !(address instanceof Inet4Address)))
            .map(PublishedAddress::text)
            .orElseThrow(() -> new InvalidInput("node.cluster.address: interface " + configured + " has no address"));
      }
      InetAddress address = InetAddress.getByName(configured);
      if (address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) == null) {
        throw new InvalidInput("node.cluster.address: " + configured + " is no address, host name or interface of this "
            + "machine");
      }
      return text(address);
    } catch (UnknownHostException e) {
      throw new InvalidInput("node.cluster.address: " + configured + " cannot be resolved and names no interface", e);
    } catch (SocketException e) {
      throw new InvalidInput("node.cluster.address: cannot look at interface " + configured + ": " + e.getMessage(), e);
    }
  }

  /**
   * Checks a host to bind to, and returns it unchanged.
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

  /**
   * Returns the kernel's choice of source address: connecting a datagram socket sends nothing. Null: there is no route
   * now.
   */
  private static InetAddress routed(InetAddress place, HostPort at) {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(place, at.port()));
      return socket.getLocalAddress().isAnyLocalAddress() ? null : socket.getLocalAddress();
    } catch (IOException | UncheckedIOException e) {
      return null; // the connection will say so
    }
  }

  /** Returns true if the seed is this process itself: one of this machine's addresses, and this port. */
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
