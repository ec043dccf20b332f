package io.regatta.node.address;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;

/** A check whether something listens at an address, with the reason if not. Stateless; any thread. */
public final class SeedProbe {

  private static final int CONNECT_MILLIS = 1000;

  private SeedProbe() {}

  /** Returns null if the address accepts a TCP connection, otherwise the reason. Blocks for a second at most. */
  public static String refusal(HostPort at) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByName(at.host()), at.port()), CONNECT_MILLIS);
      return null;
    } catch (IOException e) {
      return reason(e);
    }
  }

  /** Returns the innermost cause for which a connection failed, in few words. */
  public static String reason(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (e instanceof UnknownHostException) {
        return "host name cannot be resolved";
      }
      if (e instanceof NoRouteToHostException) {
        return "no route to host";
      }
      if (e instanceof SocketTimeoutException || e.getClass().getSimpleName().equals("ConnectTimeoutException")) {
        return "no answer (firewall, or host down?)";
      }
      if (e instanceof ConnectException) {
        return e.getMessage() != null && e.getMessage().contains("refused")
            ? "connection refused (not started, or another port?)" : String.valueOf(e.getMessage());
      }
      if (e.getClass().getSimpleName().equals("NoDataMemberInClusterException")) {
        return "the Hazelcast cluster has no data member yet (start a service, not only trainers)";
      }
    }
    return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
  }
}
