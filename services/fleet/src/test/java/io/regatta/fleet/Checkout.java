package io.regatta.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of the checkout that tests read, from the build's {@code regatta.root} and {@code regatta.data}. */
final class Checkout {

  private Checkout() {}

  static Path root() {
    return Path.of(System.getProperty("regatta.root", "../..")).toAbsolutePath().normalize();
  }

  static Path file(String relative) {
    return root().resolve(relative);
  }

  static String text(String relative) {
    try {
      return Files.readString(file(relative));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
