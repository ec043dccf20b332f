package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * Secret of the processes of a job. Each call shows it as {@code authorization: Bearer TOKEN}, or proves it. Its text is
 * in no log and no message. Immutable.
 */
public final class Token {
  /** The header, in HTTP/2's spelling. */
  public static final String HEADER = "authorization";
  /** No token: calls need none. */
  public static final Token NONE = new Token(null);

  private static final String SCHEME = "Bearer ";
  private static final int LEAST = 16;
  private static final int MOST = 4096;

  /** Length of {@link #id}. */
  public static final int ID_CHARS = 12;

  /** Null: none. */
  private final byte[] secret;
  /** Null without a secret, as the key. */
  private final String id;
  private final byte[] proofKey;

  private Token(byte[] secret) {
    this.secret = secret;
    this.proofKey = secret == null ? null : derive("regatta call proof");
    this.id = secret == null ? null : ProofHeader.text(derive("regatta token id")).substring(0, ID_CHARS);
  }

  /**
   * Returns the token of a text.
   *
   * @param from where it was read, for the message
   * @throws InvalidInput if it is too short to be no guess, or cannot stand in a header
   */
  public static Token of(String text, String from) {
    if (text.length() < LEAST || text.length() > MOST || !text.chars().allMatch(c -> c > ' ' && c <= '~')) {
      throw new InvalidInput(from + ": a token has " + LEAST + " to " + MOST + " printable ASCII characters without a "
          + "space; take a random one, e.g. that of `openssl rand -hex 32`");
    }
    return new Token(text.getBytes(StandardCharsets.US_ASCII));
  }

  public boolean isNone() {
    return secret == null;
  }

  /** Returns the header's value; not to be called of none. */
  public String headerValue() {
    return SCHEME + new String(secret, StandardCharsets.US_ASCII);
  }

  /**
   * Returns a key of 32 bytes that is made of this token for one purpose: the HMAC-SHA256 of the label. It says nothing
   * about the token or the keys for other purposes. Not to be called of none.
   */
  public byte[] derive(String label) {
    return ProofHeader.mac(secret, label);
  }

  /**
   * Returns a name of this token, {@value #ID_CHARS} characters, which says nothing about it; not to be called of none.
   */
  public String id() {
    return id;
  }

  /** Returns the key of {@code Regatta-HMAC}; not to be called of none, nor to be changed. */
  byte[] proofKey() {
    return proofKey;
  }

  /** Returns true if a header shows this token. The time that it takes tells nothing about the token but its length. */
  public boolean isShownBy(String header) {
    return isNone() || header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        && MessageDigest.isEqual(secret, header.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Token token && isNone() == token.isNone()
        && (isNone() || MessageDigest.isEqual(secret, token.secret));
  }

  @Override
  public int hashCode() {
    return isNone() ? 0 : 1; // it tells nothing
  }

  @Override
  public String toString() {
    return isNone() ? "no token" : "a token";
  }
}
