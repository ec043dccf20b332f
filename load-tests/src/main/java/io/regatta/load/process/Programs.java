package io.regatta.load.process;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs of the system that are measured as peers if they are installed. Stateless. */
public final class Programs {

  private Programs() {}

  /** Returns the first program of this name in PATH. */
  public static Optional<String> inPath(String name) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)).filter(d -> !d.isEmpty())
        .map(d -> Path.of(d, name)).filter(Files::isExecutable).map(Path::toString).findFirst();
  }

  /** Returns the first line that the program prints of its version; empty if it is not installed. */
  static Optional<String> version(String name) {
    return inPath(name).map(program -> {
      try {
        Process process = new ProcessBuilder(program, "--version").redirectErrorStream(true).start();
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
          return lines.readLine();
        } finally {
          process.destroy();
        }
      } catch (IOException e) {
        return "unknown: " + e.getMessage();
      }
    });
  }
}
