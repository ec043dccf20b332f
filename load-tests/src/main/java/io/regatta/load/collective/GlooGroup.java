package io.regatta.load.collective;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.load.process.Programs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Gloo's all-reduce through {@code torch.distributed}: one Python process for each rank, started once. */
final class GlooGroup implements Contender {
  static final String GLOO = "gloo";
  /** Variable that names the Python with torch; else the one in PATH is used. */
  static final String PYTHON = "REGATTA_GLOO_PYTHON";
  static final String MISSING = "no Python with torch.distributed and its gloo backend: set " + PYTHON
      + " to one, e.g. of a virtual environment with PyPI's torch";

  private final Path directory;
  private final List<Process> processes = new ArrayList<>();
  private final List<BufferedReader> answers = new ArrayList<>();
  private final List<PrintStream> commands = new ArrayList<>();

  private GlooGroup(String python, int ranks) throws IOException {
    directory = Files.createTempDirectory("regatta-gloo");
    try (InputStream source = GlooGroup.class.getResourceAsStream("/gloo/allreduce.py")) {
      Files.copy(source, directory.resolve("allreduce.py"));
      for (int r = 0; r < ranks; r++) {
        ProcessBuilder builder = new ProcessBuilder(python, "allreduce.py", Integer.toString(r), Integer.toString(ranks),
            directory.resolve("store").toString()).directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("GLOO_SOCKET_IFNAME", "lo");
        Process process = builder.start();
        processes.add(process);
        answers.add(process.inputReader(StandardCharsets.UTF_8));
        commands.add(new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8));
      }
      for (int r = 0; r < ranks; r++) {
        answer(r);
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Returns the group; empty if there is no Python with Gloo. */
  static Optional<Contender> find(int ranks) throws IOException {
    String given = System.getenv(PYTHON);
    Optional<String> python = given == null ? Programs.inPath("python3") : Optional.of(given);
    if (python.isEmpty() || !hasGloo(python.get())) {
      return Optional.empty();
    }
    return Optional.of(new GlooGroup(python.get(), ranks));
  }

  private static boolean hasGloo(String python) throws IOException {
    Process process = new ProcessBuilder(python, "-c",
        "import sys, torch.distributed as d; sys.exit(0 if d.is_gloo_available() else 1)")
        .redirectErrorStream(true).start();
    process.getInputStream().readAllBytes();
    try {
      return process.waitFor() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(python + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  private String answer(int rank) throws IOException {
    String line = answers.get(rank).readLine();
    if (line == null) {
      throw new PeerLost("gloo's rank " + rank + " has ended; see its lines on stderr");
    }
    return line;
  }

  @Override
  public String kind() {
    return GLOO;
  }

  @Override
  public int ranks() {
    return processes.size();
  }

  @Override
  public Calls run(int bytes, int times) throws IOException {
    commands.forEach(c -> c.println(bytes + " " + times));
    double cpu = 0;
    String[] first = null;
    for (int r = 0; r < processes.size(); r++) {
      String[] told = answer(r).split(" ");
      first = first == null ? told : first;
      cpu += Double.parseDouble(told[2]);
    }
    return new Calls(Double.parseDouble(first[0]), Double.parseDouble(first[1]), cpu, bytes * (double) times / 1e9);
  }

  @Override
  public void close() throws IOException {
    commands.forEach(PrintStream::close);
    processes.stream().map(Process::destroyForcibly).forEach(killed -> killed.onExit().join());
    for (String file : List.of("allreduce.py", "store")) {
      Files.deleteIfExists(directory.resolve(file));
    }
    Files.deleteIfExists(directory);
  }
}
