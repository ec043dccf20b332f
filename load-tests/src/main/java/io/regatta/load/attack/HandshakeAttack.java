package io.regatta.load.attack;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509TrustManager;

/**
 * TLS handshakes without a certificate: what a server shows before it authenticates the caller. Its certificate is
 * public, so the names in it count as learnt only if the attacker did not know them. Any thread.
 */
final class HandshakeAttack {
  private static final int CONNECT_MILLIS = 3000;
  private static final int READ_MILLIS = 2000;

  private HandshakeAttack() {}

  /**
   * Tries TLS 1.3 and 1.2, and an older version, at a port. Blocks.
   *
   * @param known addresses and names that the attacker knows anyway
   */
  static List<Finding> run(Port port, Set<String> known) {
    List<Finding> findings = new ArrayList<>();
    for (String version : List.of("TLSv1.3", "TLSv1.2", "TLSv1.1")) {
      findings.add(shake(port, version, known));
    }
    return findings;
  }

  private static Finding shake(Port port, String version, Set<String> known) {
    String attempt = version + " handshake without a certificate";
    Shown shown = new Shown();
    String answer;
    String protocol = "";
    try (Socket plain = new Socket()) {
      plain.connect(new InetSocketAddress(port.host(), port.number()), CONNECT_MILLIS);
      plain.setSoTimeout(READ_MILLIS);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new X509ExtendedKeyManager[] {new NoKeys(shown)}, new TrustManager[] {new Anybody(shown)}, null);
      try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, port.host(), port.number(),
          true)) {
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(new String[] {version});
        parameters.setApplicationProtocols(new String[] {"h2", "http/1.1", "regatta-member"});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        protocol = String.valueOf(socket.getApplicationProtocol());
        answer = afterwards(socket);
      }
    } catch (IOException | GeneralSecurityException e) {
      answer = Texts.error(e);
    }
    Set<String> unknown = new TreeSet<>(shown.names);
    unknown.removeAll(known);
    return new Finding(attempt, port.toString(), answer, shown + (protocol.isEmpty() ? "" : ", ALPN " + protocol),
        unknown.isEmpty() ? "" : "names in the certificate: " + String.join(", ", unknown), "");
  }

  /** Returns the event after a handshake: in TLS 1.3 the server refuses a client only then. */
  private static String afterwards(SSLSocket socket) {
    try {
      return socket.getInputStream().read() < 0 ? "closed after the handshake" : "bytes after the handshake";
    } catch (SocketTimeoutException silent) {
      return "accepted";
    } catch (IOException e) {
      return Texts.error(e);
    }
  }

  /** The facts that the server has shown. */
  private static final class Shown {
    private final Set<String> names = new TreeSet<>();
    private final Set<String> clientAuthorities = new TreeSet<>();
    private boolean certificate;

    private void certificate(X509Certificate[] chain) {
      certificate = true;
      for (X509Certificate each : chain) {
        names.add(each.getSubjectX500Principal().getName());
        names.add(each.getIssuerX500Principal().getName());
        try {
          Collection<List<?>> alternatives = each.getSubjectAlternativeNames();
          if (alternatives != null) {
            alternatives.forEach(name -> names.add(String.valueOf(name.get(1))));
          }
        } catch (CertificateException e) {
          names.add(e.toString());
        }
      }
    }

    @Override
    public String toString() {
      return certificate ? "certificate with " + String.join(" ", names) + (clientAuthorities.isEmpty() ? ""
          : ", clients of " + String.join(" ", clientAuthorities)) : "";
    }
  }

  /** Trusts every server, and notes its certificate. */
  private static final class Anybody implements X509TrustManager {
    private final Shown shown;

    private Anybody(Shown shown) {
      this.shown = shown;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {
      shown.certificate(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  /** Has no certificate, and notes the authorities that the server accepts. */
  private static final class NoKeys extends X509ExtendedKeyManager {
    private final Shown shown;

    private NoKeys(Shown shown) {
      this.shown = shown;
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      if (issuers != null) {
        Arrays.stream(issuers).map(Principal::getName).forEach(name -> {
          shown.clientAuthorities.add(name);
          shown.names.add(name);
        });
      }
      return null;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return null;
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return null;
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      return null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return null;
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return null;
    }
  }
}
