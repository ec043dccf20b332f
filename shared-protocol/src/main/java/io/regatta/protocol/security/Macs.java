package io.regatta.protocol.security;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Message authentication codes, HMAC-SHA256 (RFC 2104), and the random numbers that they cover. Stateless, any thread.
 */
public final class Macs {
  /** Length of a code, and of the keys that Regatta makes, in bytes. */
  public static final int BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  private Macs() {}

  /** Returns the code of some parts, one after another. */
  public static byte[] of(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + ALGORITHM, e);
    }
  }

  /** Returns so many bytes that nobody can guess. */
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
