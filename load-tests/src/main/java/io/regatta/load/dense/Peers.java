package io.regatta.load.dense;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.load.run.Secured;
import io.regatta.protocol.stream.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The kinds by name. Stateless. */
final class Peers {

  static final String REGATTA = "regatta";
  /** The kind with mutual TLS and a token. */
  static final String TLS = "regatta-tls";
  static final String LINK = "regatta-link";
  static final String SHARED = "regatta-shared";
  static final String HANDOVER = "regatta-handover";
  static final String GRPC_JAVA = "grpc-java";
  static final String NETSOCKET = "vertx-netsocket";
  static final String NETTY = "netty-tcp";
  static final String MEMCPY = "memcpy";

  private static final Map<String, Function<Path, Peer>> KINDS = new LinkedHashMap<>();
  private static final Set<String> ONE_PROCESS = Set.of(HANDOVER, MEMCPY);

  static {
    KINDS.put(REGATTA, none -> new RegattaPeer(Transport.GRPC, null));
    KINDS.put(TLS, certificates -> new RegattaPeer(Transport.GRPC, certificates));
    KINDS.put("regatta-unix", none -> new RegattaPeer(Transport.GRPC_UNIX, null));
    KINDS.put(SHARED, none -> new RegattaPeer(Transport.GRPC_SHARED, null));
    KINDS.put(LINK, none -> new LinkPeer());
    KINDS.put("regatta-plain", none -> new RegattaPeer(Transport.GRPC_PLAIN, null));
    KINDS.put(HANDOVER, none -> new RegattaPeer(Transport.AUTO, null));
    KINDS.put(GRPC_JAVA, none -> new GrpcJavaPeer());
    KINDS.put(NETSOCKET, none -> new NetSocketPeer());
    KINDS.put(NETTY, none -> new NettyPeer());
    KINDS.put(MEMCPY, none -> new MemcpyPeer());
  }

  private Peers() {}

  static List<String> names() {
    return List.copyOf(KINDS.keySet());
  }

  /** @param certificates directory of those of this run; null: its own, if the kind requires some */
  static Peer named(String kind, String certificates) {
    Function<Path, Peer> peer = KINDS.get(kind);
    if (peer == null) {
      throw new InvalidInput("there is no kind '" + kind + "'; there are " + names());
    }
    try {
      return peer.apply(certificates != null ? Path.of(certificates) : kind.equals(TLS) ? Secured.directory() : null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns true if server and client are one process. */
  static boolean oneProcess(String kind) {
    return ONE_PROCESS.contains(kind);
  }
}
