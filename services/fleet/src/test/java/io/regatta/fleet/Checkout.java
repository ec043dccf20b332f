package io.regatta.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

  /** Regatta's variables that deploy/Dockerfile sets. */
  static Map<String, String> imageVariables() {
    Map<String, String> variables = new LinkedHashMap<>();
    Matcher set = Pattern.compile("(REGATTA_\\w+)=(\\S+)").matcher(text("deploy/Dockerfile"));
    while (set.find()) {
      variables.put(set.group(1), set.group(2));
    }
    return variables;
  }
}
