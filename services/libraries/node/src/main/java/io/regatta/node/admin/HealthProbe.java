package io.regatta.node.admin;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * The health check of the container image, whose shell speaks no TLS. It asks the admin server of this machine over
 * TLS; its exit status is 0 if {@code /health} reports that the process is healthy. It is started every few seconds
 * beside a training, so it uses only a small part of the JDK.
 */
public final class HealthProbe {
  private static final String HOST = "127.0.0.1";
  private static final int SILENCE_MILLIS = 5000;
  private static final int HIGHEST_PORT = 65_535;

  private HealthProbe() {}

  /** @param args the port */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  /** Returns the exit status: 0 or 1, the ones that Docker knows. */
  static int run(String... args) {
    if (args.length != 1 || !args[0].matches("\\d{1,5}") || Integer.parseInt(args[0]) > HIGHEST_PORT) {
      System.err.println("the health check takes the admin port (REGATTA_NODE_ADMIN_PORT), a number up to " + HIGHEST_PORT + ", not \""
          + String.join(" ", args) + "\"");
      return 1;
    }
    try {
      return isUp(Integer.parseInt(args[0])) ? 0 : 1;
    } catch (IOException | GeneralSecurityException e) {
      System.err.println("no answer over TLS at port " + args[0] + ": " + e);
      return 1;
    }
  }

  /**
   * Returns true if the server reports that it is healthy. Blocks until the first line of the answer has arrived, or 5
   * s have passed without a byte; a slow sender is waited for longer.
   */
  public static boolean isUp(int port) throws IOException, GeneralSecurityException {
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, new TrustManager[] {new Anybody()}, null);
    try (Socket socket = tls.getSocketFactory().createSocket(HOST, port)) {
      socket.setSoTimeout(SILENCE_MILLIS);
      socket.getOutputStream().write("GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      String first = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine();
      return first != null && first.matches("HTTP/1\\.\\d 200( .*)?");
    }
  }

  /**
   * Trusts any server: the one that answers here is this container's own process, as for a kubelet, and no secret is
   * sent to it.
   */
  private static final class Anybody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {
      throw new UnsupportedOperationException("this is a client");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {
      // anybody
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
