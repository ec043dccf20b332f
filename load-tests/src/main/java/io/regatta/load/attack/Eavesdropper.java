package io.regatta.load.attack;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.net.SocketTimeoutException;
import java.net.DatagramPacket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A listener for announcements of discovery that are sent to groups, while the others attack. Owned by one thread. */
final class Eavesdropper implements AutoCloseable {
  private static final int POLL_MILLIS = 50;
  /** Groups of Hazelcast, of mDNS and of SSDP. */
  private static final Map<String, Integer> GROUPS = Map.of("224.2.2.3", 54_327, "224.0.0.251", 5353,
      "239.255.255.250", 1900);

  private final Map<String, MulticastSocket> sockets = new LinkedHashMap<>();

  /** Joins the groups on the interface of an address. */
  Eavesdropper(String host) throws IOException {
    NetworkInterface card = NetworkInterface.getByInetAddress(InetAddress.getByName(host));
    for (Map.Entry<String, Integer> group : GROUPS.entrySet()) {
      MulticastSocket socket = new MulticastSocket(group.getValue());
      socket.setSoTimeout(POLL_MILLIS);
      socket.joinGroup(new InetSocketAddress(group.getKey(), group.getValue()), card);
      sockets.put(group.getKey() + ":" + group.getValue(), socket);
    }
  }

  /** Returns what has arrived so far. */
  List<Finding> findings() throws IOException {
    List<Finding> findings = new ArrayList<>();
    for (Map.Entry<String, MulticastSocket> each : sockets.entrySet()) {
      String attempt = "listen to multicast groups";
      DatagramPacket packet = new DatagramPacket(new byte[8192], 8192);
      try {
        each.getValue().receive(packet);
        findings.add(new Finding(attempt, each.getKey(), "a datagram from " + packet.getAddress(), "",
            Texts.excerpt(Arrays.copyOf(packet.getData(), packet.getLength())), ""));
      } catch (SocketTimeoutException silent) {
        findings.add(Finding.presence(attempt, each.getKey(), "no datagram", ""));
      }
    }
    return findings;
  }

  @Override
  public void close() {
    sockets.values().forEach(MulticastSocket::close);
  }
}
