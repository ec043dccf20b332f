package io.regatta.load.features;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.load.process.Programs;
import io.regatta.load.process.Sample;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The same work by a Python library, in a process that stays up. Its virtual environment is made once. */
final class PythonTable implements AutoCloseable {

  private final Path script;
  private final Process process;
  private final BufferedReader answers;
  private final PrintStream commands;
  private final String version;
  private double floats;
  private long positive;

  private PythonTable(Path python, String kind, Path file) throws IOException {
    script = Files.createTempFile("regatta-features", ".py");
    try (InputStream source = PythonTable.class.getResourceAsStream("/features/transform.py")) {
      Files.write(script, source.readAllBytes());
    }
    process = new ProcessBuilder(python.toString(), script.toString(), kind, file.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    answers = process.inputReader(StandardCharsets.UTF_8);
    commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    version = answers.readLine();
  }

  /** Starts a process of a library. */
  static PythonTable start(Path python, String kind, Path file) throws IOException {
    return new PythonTable(python, kind, file);
  }

  /**
   * Returns the Python of a virtual environment with pandas and Polars, which is made if it is not there; empty if that cannot
   * be.
   *
   * @param why gets the reason
   */
  static Optional<Path> environment(Path directory, StringBuilder why) throws IOException {
    Path python = directory.resolve("bin").resolve("python");
    if (works(python)) {
      return Optional.of(python);
    }
    Optional<String> own = Programs.inPath("python3");
    if (own.isEmpty()) {
      why.append("no python3 in PATH");
      return Optional.empty();
    }
    List<List<String>> steps = List.of(List.of(own.get(), "-m", "venv", directory.toString()),
        List.of(python.toString(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pandas", "polars", "numpy"));
    for (List<String> step : steps) {
      StringBuilder said = new StringBuilder();
      if (run(step, said) != 0) {
        why.append(String.join(" ", step)).append(" has failed: ").append(said.toString().strip().lines().reduce((a, b) -> b).orElse(""));
        return Optional.empty();
      }
    }
    return works(python) ? Optional.of(python) : Optional.empty();
  }

  private static boolean works(Path python) throws IOException {
    return Files.isExecutable(python) && run(List.of(python.toString(), "-c", "import pandas, polars"), new StringBuilder()) == 0;
  }

  private static int run(List<String> command, StringBuilder said) throws IOException {
    Process process = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true).redirectInput(new File("/dev/null")).start();
    try {
      said.append(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      return process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(command.get(0) + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  String version() {
    return version;
  }

  /** Returns the measured reading of the file, some times. */
  Sample run(int times) throws IOException {
    commands.println(times);
    String line = answers.readLine();
    if (line == null) {
      throw new PeerLost("the Python process has ended; see its lines on stderr");
    }
    String[] told = line.split(" ");
    floats = Double.parseDouble(told[3]);
    positive = Long.parseLong(told[4]);
    return new Sample(Double.parseDouble(told[0]), Double.parseDouble(told[2]), Double.parseDouble(told[1]), 0);
  }

  /** Returns the sum of the floats of one pass. */
  double floats() {
    return floats;
  }

  /** Returns the number of positive labels of one pass. */
  long positive() {
    return positive;
  }

  @Override
  public void close() throws IOException {
    commands.close();
    process.destroyForcibly().onExit().join();
    Files.deleteIfExists(script);
  }
}
