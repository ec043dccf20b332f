package io.regatta.protocol.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Writes files that only their owner may read, as tokens and keys must be. Stateless. */
public final class SecretFiles {

  private SecretFiles() {}

  /** Writes a text to a file of mode 0600. */
  public static Path write(Path file, String text) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, text);
  }
}
