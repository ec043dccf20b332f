package io.regatta.node.cluster;

import io.regatta.node.address.HostPort;
import io.regatta.protocol.security.PeerSecurity;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** The protocol that a seed's port speaks, as far as a few bytes can tell. */
enum SeedProtocol {
  /** Answers a member of Hazelcast as a member does. */
  HAZELCAST,
  /** Answers as a member that admits only peers that prove a token. */
  PROVES,
  /** Answers a TLS handshake. */
  TLS,
  /** Answers in another protocol. */
  OTHER,
  /** Does not answer, or is gone: the protocol is not known. */
  SILENT;

  private static final int MILLIS = 1000;
  /** Bytes with which a member of Hazelcast begins. */
  static final byte[] MEMBER = "HZC".getBytes(StandardCharsets.US_ASCII);
  /** Beginning of Hazelcast's answer to a protocol that a port does not admit. */
  private static final byte[] OTHER_HAZELCAST = "HZX".getBytes(StandardCharsets.US_ASCII);
  private static final byte TLS_ALERT = 0x15;

  /**
   * Asks a port. Blocks for six seconds at most.
   *
   * @param security if this process proves a token, the port is asked for that first: a seed with the same token does
   *     not take the question for a stranger's, which it would log
   */
  static SeedProtocol of(HostPort at, PeerSecurity security) {
    if (!security.tokens().isNone()) {
      byte[] proof = answer(at, new MemberProof(security, true, new byte[0]).opening());
      if (Arrays.equals(proof, MemberProof.HELLO) || Arrays.equals(proof, MemberProof.REFUSAL)) {
        return PROVES;
      }
    }
    byte[] answer = answer(at, MEMBER);
    if (answer.length == MEMBER.length) {
      return Arrays.equals(answer, MEMBER) ? HAZELCAST : Arrays.equals(answer, MemberProof.REFUSAL) ? PROVES
          : Arrays.equals(answer, OTHER_HAZELCAST) || answer[0] != TLS_ALERT ? OTHER : TLS;
    }
    return speaksTls(at) ? TLS : answer.length > 0 ? OTHER : SILENT;
  }

  /** Returns the first bytes that a port answers; fewer than of a protocol's beginning if there are no more. */
  private static byte[] answer(HostPort at, byte[] question) {
    byte[] answer = new byte[MEMBER.length];
    int read = 0;
    try (Socket socket = connect(at)) {
      socket.getOutputStream().write(question);
      InputStream in = socket.getInputStream();
      for (int more = in.read(answer); more > 0; more = in.read(answer, read, answer.length - read)) {
        read += more;
      }
    } catch (IOException e) {
      // judged by what has come
    }
    return Arrays.copyOf(answer, read);
  }

  private static Socket connect(HostPort at) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(at.host(), at.port()), MILLIS);
      socket.setSoTimeout(MILLIS);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Returns true if the port sends a certificate. Nothing is sent over that connection, so its owner does not matter.
   */
  private static boolean speaksTls(HostPort at) {
    SeenCertificate seen = new SeenCertificate();
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {seen}, null);
      try (Socket plain = connect(at);
          SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, at.host(), at.port(), true)) {
        socket.startHandshake();
        return true;
      }
    } catch (IOException | GeneralSecurityException e) {
      return seen.certificate;
    }
  }

  /** Notes that a certificate came, and lets it pass. */
  private static final class SeenCertificate implements X509TrustManager {
    private boolean certificate;

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {
      certificate = true;
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
