package io.regatta.protocol.security;

import java.nio.file.Path;

/**
 * Files of a process's TLS, in PEM. Immutable.
 *
 * @param certificate of this process, followed by those between it and the CA; null: it has none, and only calls others
 * @param key the certificate's private key, without a password; null with the certificate
 * @param ca certificates of the CAs that sign those of peers
 * @param mutual true if each caller of this process must have a certificate, too
 * @param verifyHost true if the certificate of a called process must hold the host under which it is called
 */
public record TlsFiles(Path certificate, Path key, Path ca, boolean mutual, boolean verifyHost) {}
