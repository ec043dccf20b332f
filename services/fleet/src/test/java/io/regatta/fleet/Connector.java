package io.regatta.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.regatta.protocol.testing.HostileClient;
import java.io.IOException;
import java.util.Arrays;
import javax.net.ssl.SSLContext;

/** Way in which the clients of an attack connect: with TCP alone, or with TLS. */
@FunctionalInterface
interface Connector {

  /** Name of Hazelcast's members within TLS (ALPN). */
  String MEMBER = "regatta-member";

  /** TCP alone. */
  Connector TCP = (port, first) -> HostileClient.connect(port);

  /**
   * Connects to a port of this machine.
   *
   * @param first bytes that the client is going to send; they are not sent yet
   */
  HostileClient connect(int port, byte[] first) throws IOException;

  /**
   * Returns the connector that ends a TLS handshake, and asks for HTTP/1.1 there if the first bytes are of it. It tries
   * again if a busy server has ended a handshake as too slow.
   *
   * @param version {@code TLSv1.3} or {@code TLSv1.2}
   * @param memberPort Hazelcast's port, which it asks for nothing but a member
   */
  static Connector tls(String version, SSLContext context, int memberPort) {
    int most = 3;
    return (port, first) -> {
      String[] applications = port == memberPort ? new String[] {MEMBER}
          : isHttp1(first) ? new String[] {"http/1.1"} : new String[] {"h2", "http/1.1"};
      for (int tries = 1; true; tries++) {
        try {
          return HostileClient.connectTls(port, version, context, applications);
        } catch (IOException late) {
          if (tries == most) {
            throw late;
          }
        }
      }
    };
  }

  private static boolean isHttp1(byte[] first) {
    String head = new String(first, 0, Math.min(first.length, 10), US_ASCII);
    return Arrays.asList("GET", "PUT", "POST", "DELETE").contains(head.split(" ", 2)[0]);
  }
}
