package io.regatta.load.process;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.PeerLost;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A small C program of the resources, compiled for OpenMPI if {@code mpirun} and {@code mpicc} are in PATH, and MPI's
 * header is installed. Called by one thread. OpenMPI waits by polling, so its CPU seconds are not comparable.
 */
public final class MpiProgram implements AutoCloseable {
  private static final String PACKAGES = "; Debian's packages are openmpi-bin and libopenmpi-dev";
  private static final long LIMIT_SECONDS = 120;
  private static final long PROBE_SECONDS = 30;

  private final String mpirun;
  private final Path directory;
  private final String name;

  private MpiProgram(String mpirun, Path directory, String name) {
    this.mpirun = mpirun;
    this.directory = directory;
    this.name = name;
  }

  /** Returns in a line what is missing of OpenMPI and how to get it; empty if a program can be compiled and run. */
  public static Optional<String> missing() throws IOException {
    return missing(Programs.inPath("mpirun"), Programs.inPath("mpicc"));
  }

  /** Checks that {@code mpicc} can include MPI's header: the header or the compiler may be missing. */
  static Optional<String> missing(Optional<String> mpirun, Optional<String> mpicc) throws IOException {
    if (mpirun.isEmpty() || mpicc.isEmpty()) {
      return Optional.of("no mpirun and mpicc in PATH" + PACKAGES);
    }
    Path source = Files.createTempFile("regatta-openmpi", ".c");
    Path said = Files.createTempFile("regatta-openmpi", ".log");
    try {
      Files.writeString(source, "#include <mpi.h>\n");
      Process probe = new ProcessBuilder(mpicc.get(), "-E", source.toString()).redirectErrorStream(true)
          .redirectOutput(said.toFile()).start();
      try {
        if (probe.waitFor(PROBE_SECONDS, TimeUnit.SECONDS) && probe.exitValue() == 0) {
          return Optional.empty();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new PeerLost("mpicc was interrupted", e);
      } finally {
        probe.destroyForcibly();
      }
      try (Stream<String> lines = Files.lines(said, StandardCharsets.ISO_8859_1)) {
        String why = lines.filter(line -> line.contains("error")).findFirst().orElse("it says nothing");
        return Optional.of(mpicc.get() + " does not compile with mpi.h (" + PeerText.of(why) + ")" + PACKAGES);
      }
    } finally {
      Files.delete(source);
      Files.delete(said);
    }
  }

  /** Compiles {@code openmpi/NAME.c}; empty if something is {@link #missing()}. */
  public static Optional<MpiProgram> compile(String name) throws IOException {
    Optional<String> mpirun = Programs.inPath("mpirun");
    Optional<String> mpicc = Programs.inPath("mpicc");
    if (missing(mpirun, mpicc).isPresent()) {
      return Optional.empty();
    }
    MpiProgram made = new MpiProgram(mpirun.get(), Files.createTempDirectory("regatta-openmpi"), name);
    try (InputStream source = MpiProgram.class.getResourceAsStream("/openmpi/" + name + ".c")) {
      Files.copy(source, made.directory.resolve(name + ".c"));
      made.output(List.of(mpicc.get(), "-O2", "-o", name, name + ".c"));
      return Optional.of(made);
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  /**
   * Runs it; returns what it printed.
   *
   * @param options of mpirun
   * @param arguments of the program
   */
  public String run(int ranks, List<String> options, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(mpirun, "-n", Integer.toString(ranks), "--oversubscribe"));
    command.addAll(options);
    command.add("./" + name);
    command.addAll(arguments);
    return output(command);
  }

  private String output(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).directory(directory.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1"); // it refuses root unless told twice
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Process process = builder.start();
    process.getOutputStream().close();
    try {
      String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new PeerLost(String.join(" ", command) + " failed; its words are on standard error");
      }
      return told;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PeerLost(command.get(0) + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Removes the program. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(directory.resolve(name + ".c"));
    Files.deleteIfExists(directory.resolve(name));
    Files.delete(directory);
  }
}
