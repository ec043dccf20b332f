package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.protocol.security.TlsFiles;
import java.nio.file.Path;

/**
 * TLS on all ports of a process, and on its connections to others: section {@code node.tls}. Validated in the
 * constructor, immutable.
 */
public record TlsConfig(
    @Setting(doc = "PEM file with this process's certificate, and behind it those between it and its CA. Empty: it has none; with ca it "
        + "can call others, and opens no port.")
    String certificate,

    @Setting(doc = "PEM file with the certificate's private key, without a password.")
    String key,

    @Setting(doc = "PEM file with the certificates of the CAs that sign those of the other processes. Empty: no TLS.")
    String ca,

    @Setting(value = "true", doc = "Whether whoever calls this process must have a certificate, too (mutual TLS).")
    boolean mutual,

    @Setting(value = "true", doc = "Whether the certificate of who is called must hold the host or address under which it is called; "
        + "false: all that ca has signed are trusted alike.")
    boolean verifyHost,

    @Setting(value = "10000", unit = "ms", doc = "How often to look whether the files have changed; new connections use what is in "
        + "them then. 0: never.")
    long pollMs) {

  public TlsConfig {
    if (certificate.isBlank() != key.isBlank()) {
      throw new InvalidInput(certificate.isBlank() ? "key is given, and certificate is not: give both"
          : "certificate is given, and key is not: give both");
    }
    if (ca.isBlank() && !certificate.isBlank()) {
      throw new InvalidInput("certificate is given, and ca is not: say which CA the other processes' certificates are of");
    }
    if (pollMs < 0) {
      throw new InvalidInput("poll_ms must be at least 0, got " + pollMs);
    }
  }

  /** Returns the files; null: no TLS. */
  TlsFiles files() {
    return ca.isBlank() ? null : new TlsFiles(certificate.isBlank() ? null : Path.of(certificate),
        key.isBlank() ? null : Path.of(key), Path.of(ca), mutual, verifyHost);
  }
}
