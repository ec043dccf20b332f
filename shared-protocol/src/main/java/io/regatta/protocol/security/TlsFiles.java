package io.regatta.protocol.security;

import java.nio.file.Path;

/**
 * Where a process's TLS comes from, in PEM. Immutable.
 *
 * @param certificate of this process, and behind it those between it and the CA; null: it has none, and can only call others
 * @param key the certificate's private key, without a password; null with the certificate
 * @param ca certificates of the CAs that sign those of peers
 * @param mutual whether whoever calls this process must have a certificate, too
 * @param verifyHost whether the certificate of who is called must hold the host under which it is called
 */
public record TlsFiles(Path certificate, Path key, Path ca, boolean mutual, boolean verifyHost) {}
