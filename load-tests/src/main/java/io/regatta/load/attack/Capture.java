package io.regatta.load.attack;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The analysis of a recording of packets, as tcpdump writes it: for each connection whether all its bytes are TLS
 * records, and the packets sent outside connections. Owned by one thread.
 */
final class Capture {
  private static final int MAGIC = 0xa1b2c3d4;
  private static final int FILE_HEAD = 24;
  private static final int ETHERNET_HEAD = 14;
  private static final int ARP = 0x0806;
  private static final int IPV4 = 0x0800;
  private static final int IPV6 = 0x86dd;
  private static final int IPV6_HEAD = 40;
  private static final int ICMPV6 = 58;
  private static final int TCP = 6;
  private static final int FIN_SYN = 3;
  private static final int SYN = 2;

  private final String attempt;
  private final String attacker;
  private final Map<String, Port> ports = new LinkedHashMap<>();
  private final Map<String, TlsFollower> directions = new LinkedHashMap<>();
  /** Name of the latest connection of each direction: port numbers are reused. */
  private final Map<String, String> latest = new LinkedHashMap<>();
  private final Map<String, Integer> others = new TreeMap<>();
  private long packets;

  /**
   * @param attempt how the packets were recorded, for the report
   * @param attacker address whose own packets are left out
   */
  private Capture(String attempt, String attacker, List<Port> ports) {
    this.attempt = attempt;
    this.attacker = attacker;
    ports.forEach(port -> this.ports.put(port.address(), port));
  }

  /** Reads a recording of Ethernet frames. */
  static List<Finding> read(Path file, String attempt, String attacker, List<Port> ports) throws IOException {
    Capture capture = new Capture(attempt, attacker, ports);
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 20))) {
      ByteBuffer head = ByteBuffer.wrap(in.readNBytes(FILE_HEAD)).order(ByteOrder.LITTLE_ENDIAN);
      if (head.remaining() < FILE_HEAD || head.getInt(0) != MAGIC) {
        throw new IOException(file + " is no recording of tcpdump's on this machine");
      }
      byte[] record = new byte[16];
      while (true) {
        try {
          in.readFully(record);
          byte[] frame = new byte[ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN).getInt(8)];
          in.readFully(frame);
          capture.frame(ByteBuffer.wrap(frame));
        } catch (EOFException end) {
          return capture.findings();
        }
      }
    }
  }

  private void frame(ByteBuffer bytes) {
    if (bytes.remaining() < ETHERNET_HEAD) {
      return;
    }
    packets++;
    int type = Short.toUnsignedInt(bytes.getShort(ETHERNET_HEAD - 2));
    bytes.position(ETHERNET_HEAD);
    ByteBuffer payload = bytes.slice();
    if (type == IPV4) {
      ip(payload);
    } else if (type == IPV6 && payload.remaining() >= IPV6_HEAD) {
      count(payload.get(6) == ICMPV6 || payload.get(6) == 0 ? "neighbour discovery of the kernel" : "IPv6, protocol "
          + payload.get(6));
    } else {
      count(type == ARP ? "ARP" : String.format("Ethernet type %04x", type));
    }
  }

  private void count(String what) {
    others.merge(what, 1, Integer::sum);
  }

  private void ip(ByteBuffer packet) {
    int head = (packet.get(0) & 15) * 4;
    int length = Math.min(Short.toUnsignedInt(packet.getShort(2)), packet.remaining());
    String from = address(packet, 12);
    String to = address(packet, 16);
    if (from.equals(attacker) || to.equals(attacker)) {
      return;
    }
    if (packet.get(9) != TCP) {
      count("IP protocol " + packet.get(9) + " to " + to);
      return;
    }
    int data = head + (packet.get(head + 12) >> 4 & 15) * 4;
    String sender = from + ":" + Short.toUnsignedInt(packet.getShort(head));
    String receiver = to + ":" + Short.toUnsignedInt(packet.getShort(head + 2));
    boolean begins = (packet.get(head + 13) & SYN) != 0;
    String key = sender + ">" + receiver;
    if (begins) {
      latest.put(key, key + "#" + directions.size());
    }
    TlsFollower follower = directions.computeIfAbsent(latest.computeIfAbsent(key, k -> k + "#" + directions.size()),
        k -> new TlsFollower());
    if (length > data && (packet.get(head + 13) & FIN_SYN) != SYN) {
      packet.limit(length).position(data);
      follower.segment(packet.getInt(head + 4), packet.slice());
    }
  }

  private static String address(ByteBuffer packet, int at) {
    return (packet.get(at) & 0xff) + "." + (packet.get(at + 1) & 0xff) + "." + (packet.get(at + 2) & 0xff) + "."
        + (packet.get(at + 3) & 0xff);
  }

  /** Returns the process at the known end of a direction, so that connections to the same one are one row. */
  private String target(String key) {
    String[] ends = key.substring(0, key.indexOf('#')).split(">");
    Port port = ports.get(ends[1]);
    return port != null ? "to " + port : ports.containsKey(ends[0]) ? "from " + ports.get(ends[0]) : key;
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    Map<String, int[]> tls = new LinkedHashMap<>();
    long bytes = 0;
    int broken = 0;
    for (Map.Entry<String, TlsFollower> each : directions.entrySet()) {
      TlsFollower follower = each.getValue();
      bytes += follower.bytes();
      String target = target(each.getKey());
      if (!follower.clear().isEmpty()) {
        findings.add(new Finding(attempt, target, "a connection that is not TLS", "", follower.clear(),
            "bytes of it can be changed on the way"));
      } else if (!follower.serverName().isEmpty()) {
        findings.add(new Finding(attempt, target, "a ClientHello", "", "server name " + follower.serverName(), ""));
      } else {
        tls.computeIfAbsent(target, t -> new int[1])[0]++;
      }
      broken += follower.isIncomplete() ? 1 : 0;
    }
    tls.keySet().forEach(target -> findings.add(Finding.presence(attempt, target, "TLS records alone",
        "who speaks to whom, when, how much")));
    others.forEach((what, times) -> {
      boolean known = what.equals("ARP") || what.startsWith("neighbour");
      findings.add(new Finding(attempt, "the network", what, known ? "machines" : "", known ? "" : what, ""));
    });
    findings.add(Finding.presence(attempt, "the network", packets + " packets, " + directions.size()
        + " directions of connections, " + bytes + " bytes looked at, " + broken + " directions with a gap", ""));
    return findings;
  }
}
