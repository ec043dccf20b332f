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
 * Asks an admin server on this machine that speaks TLS whether its process is fit to go on, for the health check of the image, whose
 * shell speaks none: exit status 0 if {@code /health} says so. It is started every few seconds beside a training, so it is made of
 * the JDK alone, and of little of that.
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

  /** The exit status: of those that Docker knows, 0 and 1. */
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

  /** Blocks until the answer's first line is there, or 5 s have passed without a byte: who sends slowly is waited for longer. */
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

  /** Who answers here is this container's own process, as for a kubelet; and nothing is told to it. */
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
