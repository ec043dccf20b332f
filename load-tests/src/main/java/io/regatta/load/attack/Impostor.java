package io.regatta.load.attack;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A server of the attacker's to which a client of the job is led, as by a forged entry of DNS. One port has TLS and a
 * certificate of another CA, one is in the clear. Owned by one thread for each port.
 */
final class Impostor {
  private static final int READ_MILLIS = 3000;
  private static final char[] PASSWORD = "attacker".toCharArray();
  private static final int HANDSHAKE = 22;

  private Impostor() {}

  /**
   * Listens at both ports and records what clients send. Blocks.
   *
   * @param keys directory with {@code tls.p12}, the attacker's key and certificate
   * @param seconds how long it listens
   */
  static List<Finding> run(Path keys, int tlsPort, int clearPort, int seconds)
      throws IOException, GeneralSecurityException, InterruptedException {
    KeyStore store = KeyStore.getInstance(keys.resolve("tls.p12").toFile(), PASSWORD);
    KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    Set<Finding> findings = Collections.synchronizedSet(new LinkedHashSet<>());
    try (ServerSocket tls = context.getServerSocketFactory().createServerSocket(tlsPort);
        ServerSocket clear = new ServerSocket(clearPort)) {
      Thread other = new Thread(() -> serve(tls, "a client is led to a server with a certificate of another CA",
          findings));
      other.start();
      System.out.println("ready");
      new Timer(true).schedule(new TimerTask() {
        @Override
        public void run() {
          close(tls);
          close(clear);
        }
      }, seconds * 1000L);
      serve(clear, "a client is led to a server without TLS", findings);
      other.join();
    }
    return List.copyOf(findings);
  }

  private static void close(ServerSocket server) {
    try {
      server.close();
    } catch (IOException e) {
      System.err.println("close: " + e);
    }
  }

  private static void serve(ServerSocket server, String attempt, Set<Finding> findings) {
    while (true) {
      try (Socket client = server.accept()) {
        findings.add(meet(client, attempt));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private static Finding meet(Socket client, String attempt) {
    try {
      client.setSoTimeout(READ_MILLIS);
      byte[] bytes = new byte[8192];
      int n = client.getInputStream().read(bytes);
      return n < 0 || bytes[0] == HANDSHAKE
          ? Finding.presence(attempt, "impostor", n < 0 ? "the client closes" : "a ClientHello", "a client")
          : new Finding(attempt, "impostor", "the client speaks", "", Texts.excerpt(Arrays.copyOf(bytes, n)), "");
    } catch (IOException e) {
      return Finding.presence(attempt, "impostor", Texts.error(e), "a client");
    }
  }
}
