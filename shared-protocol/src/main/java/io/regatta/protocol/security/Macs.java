package io.regatta.protocol.security;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Message authentication codes, HMAC-SHA256 (RFC 2104). Stateless, any thread. */
public final class Macs {
  /** Length of a code, and of the keys that Regatta makes, in bytes. */
  public static final int BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";

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
}
