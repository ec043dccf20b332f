package io.regatta.load.dense;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.Transport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** The kinds by name. Stateless. */
final class Peers {

  static final String REGATTA = "regatta";
  static final String LINK = "regatta-link";
  static final String SHARED = "regatta-shared";
  static final String HANDOVER = "regatta-handover";
  static final String GRPC_JAVA = "grpc-java";
  static final String NETSOCKET = "vertx-netsocket";
  static final String NETTY = "netty-tcp";
  static final String MEMCPY = "memcpy";

  private static final Map<String, Supplier<Peer>> KINDS = new LinkedHashMap<>();
  private static final Set<String> ONE_PROCESS = Set.of(HANDOVER, MEMCPY);

  static {
    KINDS.put(REGATTA, () -> new RegattaPeer(Transport.GRPC));
    KINDS.put("regatta-unix", () -> new RegattaPeer(Transport.GRPC_UNIX));
    KINDS.put(SHARED, () -> new RegattaPeer(Transport.GRPC_SHARED));
    KINDS.put(LINK, LinkPeer::new);
    KINDS.put("regatta-plain", () -> new RegattaPeer(Transport.GRPC_PLAIN));
    KINDS.put(HANDOVER, () -> new RegattaPeer(Transport.AUTO));
    KINDS.put(GRPC_JAVA, GrpcJavaPeer::new);
    KINDS.put(NETSOCKET, NetSocketPeer::new);
    KINDS.put(NETTY, NettyPeer::new);
    KINDS.put(MEMCPY, MemcpyPeer::new);
  }

  private Peers() {}

  static List<String> names() {
    return List.copyOf(KINDS.keySet());
  }

  static Peer named(String kind) {
    Supplier<Peer> peer = KINDS.get(kind);
    if (peer == null) {
      throw new InvalidInput("there is no kind '" + kind + "'; there are " + names());
    }
    return peer.get();
  }

  /** Whether server and client are one process. */
  static boolean oneProcess(String kind) {
    return ONE_PROCESS.contains(kind);
  }
}
