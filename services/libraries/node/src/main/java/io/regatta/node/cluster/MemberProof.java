package io.regatta.node.cluster;

import io.regatta.protocol.security.Macs;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.vertx.SystemClock;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;

/**
 * One side's part in a proof of the job's token between two Hazelcast members, made in each connection before either
 * side reads a byte of Hazelcast's protocol. Without the token a process cannot become a member, read the directory or
 * send an operation. The token itself is not sent: each side shows a code over both sides' random numbers, so no
 * recorded connection can be used again. With TLS the codes also cover the certificate of the side that was called, so
 * a proof is worthless on another connection. Without TLS, the data that follows is neither encrypted nor
 * authenticated.
 *
 * <p>The side that connects sends {@code RGP}, the id of its token and a random number. The other side answers
 * {@code RGP}, a random number and the code of {@code server}. The first side ends with the code of {@code client}.
 * Codes are HMAC-SHA256 over role, certificate (its SHA-256; nothing without TLS) and both numbers. A side that does
 * not know the token, or is asked in another protocol, answers {@code RGX} and closes.
 *
 * <p>Does not block and has no thread: its owner passes received bytes in and sends the answers.
 */
final class MemberProof {

  static final byte[] HELLO = "RGP".getBytes(StandardCharsets.US_ASCII);
  /** Answer to a peer that does not prove the token. */
  static final byte[] REFUSAL = "RGX".getBytes(StandardCharsets.US_ASCII);
  /** Length of the longest part of the proof that a side receives at once, in bytes. */
  static final int LONGEST_PART = 2 * Macs.BYTES;
  private static final byte[] SERVER = "server".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CLIENT = "client".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NOTHING = new byte[0];
  private static final String LABEL = "regatta member proof";

  private enum Step { HELLO, NUMBERS, CODE, DONE }

  private final PeerSecurity security;
  private final boolean client;
  private final byte[] certificate;
  private final byte[] own = Macs.random(Macs.BYTES);
  private Step step = Step.HELLO;
  /** Key of the code; null at the server until the client has named its token. */
  private byte[] key;
  private byte[] other;

  /**
   * Creates one side of the proof.
   *
   * @param security with a token at least
   * @param client this side has connected
   * @param certificate SHA-256 of the certificate of the side that was called; empty without TLS
   */
  MemberProof(PeerSecurity security, boolean client, byte[] certificate) {
    this.security = security;
    this.client = client;
    this.certificate = certificate;
  }

  /** Returns the bytes that this side sends before it has received any; empty if it waits for the other one. */
  byte[] opening() {
    if (!client) {
      return NOTHING;
    }
    Token token = security.token();
    key = token.derive(LABEL);
    return concat(HELLO, token.id().getBytes(StandardCharsets.US_ASCII), own);
  }

  /** Returns the number of bytes that {@link #receive} takes next; 0 once both sides know that the token is shared. */
  int expected() {
    return switch (step) {
      case HELLO -> HELLO.length;
      case NUMBERS -> client ? 2 * Macs.BYTES : Token.ID_CHARS + Macs.BYTES;
      case CODE -> Macs.BYTES;
      case DONE -> 0;
    };
  }

  /**
   * Takes {@link #expected} bytes of the other side.
   *
   * @return what to send then; may be empty
   * @throws ConnectionRefused if the other side does not know the token
   */
  byte[] receive(byte[] part) throws ConnectionRefused {
    return switch (step) {
      case HELLO -> hello(part);
      case NUMBERS -> client ? challenged(part) : named(part);
      case CODE -> {
        if (!MessageDigest.isEqual(part, Macs.of(key, CLIENT, certificate, other, own))) {
          throw new ConnectionRefused("its code is not that of the token", NOTHING);
        }
        step = Step.DONE;
        yield NOTHING;
      }
      case DONE -> throw new IllegalStateException("the proof is complete");
    };
  }

  private byte[] hello(byte[] part) throws ConnectionRefused {
    if (Arrays.equals(part, HELLO)) {
      step = Step.NUMBERS;
      return NOTHING;
    }
    throw client ? new ConnectionRefused(ConnectionRefused.OTHER_TOKEN, NOTHING)
        : new ConnectionRefused("it does not prove the token", REFUSAL);
  }

  private byte[] named(byte[] part) throws ConnectionRefused {
    String id = new String(part, 0, Token.ID_CHARS, StandardCharsets.US_ASCII);
    Optional<Token> token = security.tokens().memberOfId(id, SystemClock.get().epochMillis());
    if (token.isEmpty()) {
      throw new ConnectionRefused("it does not prove the token", REFUSAL);
    }
    key = token.get().derive(LABEL);
    other = Arrays.copyOfRange(part, Token.ID_CHARS, part.length);
    step = Step.CODE;
    return concat(HELLO, own, Macs.of(key, SERVER, certificate, other, own));
  }

  private byte[] challenged(byte[] part) throws ConnectionRefused {
    other = Arrays.copyOf(part, Macs.BYTES);
    byte[] code = Arrays.copyOfRange(part, Macs.BYTES, part.length);
    if (!MessageDigest.isEqual(code, Macs.of(key, SERVER, certificate, own, other))) {
      throw new ConnectionRefused(ConnectionRefused.OTHER_TOKEN, NOTHING);
    }
    step = Step.DONE;
    return Macs.of(key, CLIENT, certificate, own, other);
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
}
