package io.regatta.node.cluster;

import com.hazelcast.nio.MemberSocketInterceptor;
import io.regatta.protocol.security.Macs;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import java.util.Properties;

/**
 * Proof of the job's token between two members of Hazelcast, before either of them reads a byte of Hazelcast's
 * protocol. Without the token nobody becomes a member, reads the directory or sends an operation. The token itself is
 * not sent: each side shows a code over both sides' random numbers, so that no recorded connection can be used again.
 * What follows is neither encrypted nor authenticated.
 *
 * <p>The side that connects sends {@code RGP}, the id of its token and a random number; the other one answers {@code
 * RGP}, a random number and the code of {@code server}; the first one ends with the code of {@code client}. Codes are
 * HMAC-SHA256 over role and both numbers. A side that does not know the token, or is asked in another protocol, answers
 * {@code RGX} and closes.
 *
 * <p>Blocks, for {@value #MILLIS} ms at most, on Hazelcast's threads.
 */
final class MemberProof implements MemberSocketInterceptor {

  static final byte[] HELLO = "RGP".getBytes(StandardCharsets.US_ASCII);
  /** Answer to everybody who does not prove the token. */
  static final byte[] REFUSAL = "RGX".getBytes(StandardCharsets.US_ASCII);
  private static final int MILLIS = 3000;
  private static final byte[] SERVER = "server".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CLIENT = "client".getBytes(StandardCharsets.US_ASCII);
  private static final String LABEL = "regatta member proof";

  private final PeerSecurity security;
  private volatile boolean refused;

  private MemberProof(PeerSecurity security) {
    this.security = security;
  }

  /** Returns the proof of the tokens that a process has; null if it has none. */
  static MemberProof of(PeerSecurity security) {
    return security.tokens().isNone() ? null : new MemberProof(security);
  }

  /**
   * Returns true once a member that was asked has not proved a token of this process, or has not accepted this one's.
   */
  boolean isRefused() {
    return refused;
  }

  @Override
  public void init(Properties properties) {}

  @Override
  public void onConnect(Socket socket) throws IOException {
    Deadline deadline = new Deadline(socket);
    Token token = security.token();
    byte[] key = token.derive(LABEL);
    byte[] own = Macs.random(Macs.BYTES);
    OutputStream out = socket.getOutputStream();
    out.write(concat(HELLO, token.id().getBytes(StandardCharsets.US_ASCII), own));
    byte[] answer = deadline.read(HELLO.length);
    if (!Arrays.equals(answer, HELLO)) {
      refused = true;
      throw new IOException("the member at " + socket.getRemoteSocketAddress()
          + " does not prove the token of this process: has it another one, or none?");
    }
    byte[] other = deadline.read(Macs.BYTES);
    byte[] code = deadline.read(Macs.BYTES);
    if (!MessageDigest.isEqual(code, Macs.of(key, SERVER, own, other))) {
      refused = true;
      throw new IOException("the member at " + socket.getRemoteSocketAddress()
          + " does not know the token of this process");
    }
    out.write(Macs.of(key, CLIENT, own, other));
    deadline.end();
  }

  @Override
  public void onAccept(Socket socket) throws IOException {
    Deadline deadline = new Deadline(socket);
    OutputStream out = socket.getOutputStream();
    byte[] hello = deadline.read(HELLO.length);
    Optional<Token> token = Arrays.equals(hello, HELLO) ? named(deadline) : Optional.empty();
    if (token.isEmpty()) {
      out.write(REFUSAL);
      throw new IOException("a connection from " + socket.getRemoteSocketAddress()
          + " is refused: it does not prove the token");
    }
    byte[] key = token.get().derive(LABEL);
    byte[] other = deadline.read(Macs.BYTES);
    byte[] own = Macs.random(Macs.BYTES);
    out.write(concat(HELLO, own, Macs.of(key, SERVER, other, own)));
    if (!MessageDigest.isEqual(deadline.read(Macs.BYTES), Macs.of(key, CLIENT, other, own))) {
      throw new IOException("a connection from " + socket.getRemoteSocketAddress()
          + " is refused: its code is not that of the token");
    }
    deadline.end();
  }

  private Optional<Token> named(Deadline deadline) throws IOException {
    String id = new String(deadline.read(Token.ID_CHARS), StandardCharsets.US_ASCII);
    return security.tokens().memberOfId(id, System.currentTimeMillis());
  }

  private static byte[] concat(byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    byte[] all = new byte[length];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  /**
   * Reads from a socket that may send its bytes as slowly as it likes, but not for longer than {@value #MILLIS} ms in
   * all.
   */
  private static final class Deadline {
    private final Socket socket;
    private final InputStream in;
    private final long endNanos = System.nanoTime() + MILLIS * 1_000_000L;

    private Deadline(Socket socket) throws IOException {
      this.socket = socket;
      this.in = socket.getInputStream();
    }

    private byte[] read(int length) throws IOException {
      byte[] bytes = new byte[length];
      int at = 0;
      while (at < length) {
        long left = (endNanos - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          throw new SocketTimeoutException(socket.getRemoteSocketAddress() + " has not proved the token within "
              + MILLIS + " ms");
        }
        socket.setSoTimeout((int) left);
        int read = in.read(bytes, at, length - at);
        if (read < 0) {
          throw new IOException(socket.getRemoteSocketAddress()
              + " has closed the connection before it proved the token");
        }
        at += read;
      }
      return bytes;
    }

    private void end() throws IOException {
      socket.setSoTimeout(0);
    }
  }
}
