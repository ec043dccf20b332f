package io.regatta.protocol.security;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Message authentication codes, HMAC-SHA256 (RFC 2104), and the random numbers that they cover. Stateless, any thread.
 *
 * <p>The two hashes of RFC 2104 are computed here. {@link javax.crypto.Mac} would start every security provider of the
 * JVM before its first code. That is 25 to 60 ms of processor time in each process, more than all other work of a token
 * at a start.
 */
public final class Macs {
  /** Length of a code, and of the keys that Regatta makes, in bytes. */
  public static final int BYTES = 32;
  /** Block of SHA-256, in bytes. */
  private static final int BLOCK = 64;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Macs() {}

  /** Returns the code of some parts, one after another. */
  public static byte[] of(byte[] key, byte[]... parts) {
    MessageDigest hash = sha256();
    byte[] block = Arrays.copyOf(key.length > BLOCK ? hash.digest(key) : key, BLOCK);
    hash.update(changed(block, 0x36));
    for (byte[] part : parts) {
      hash.update(part);
    }
    byte[] inner = hash.digest();
    hash.update(changed(block, 0x5c));
    return hash.digest(inner);
  }

  private static byte[] changed(byte[] block, int pad) {
    byte[] changed = new byte[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
      changed[i] = (byte) (block[i] ^ pad);
    }
    return changed;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** Returns that many random bytes as hexadecimal digits, for example a token. Any thread. */
  public static String randomText(int bytes) {
    return HexFormat.of().formatHex(random(bytes));
  }

  /** Returns random bytes that nobody can guess. */
  public static byte[] random(int bytes) {
    byte[] random = new byte[bytes];
    RANDOM.nextBytes(random);
    return random;
  }

  /**
   * Returns whether a code is the one expected, both as texts. The time that it takes tells only whether the lengths
   * differ.
   */
  public static boolean isSame(String expected, String shown) {
    return shown != null && MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8),
        shown.getBytes(StandardCharsets.UTF_8));
  }
}
