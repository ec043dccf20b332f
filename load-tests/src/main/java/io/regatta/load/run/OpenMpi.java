package io.regatta.load.run;

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

/**
 * One-way sends between two ranks of OpenMPI over TCP, by a small C program that is compiled for the purpose, if
 * {@code mpirun} and {@code mpicc} are in PATH. Called by one thread. OpenMPI waits by polling: its CPU seconds say little.
 */
public final class OpenMpi implements AutoCloseable {
  private static final double GIGA = 1e9;
  private static final long LIMIT_SECONDS = 60;
  private static final String SOURCE = "oneway.c";

  private final String mpirun;
  private final Path directory;

  private OpenMpi(String mpirun, Path directory) {
    this.mpirun = mpirun;
    this.directory = directory;
  }

  /** Compiles the program; empty if OpenMPI is not there. */
  public static Optional<OpenMpi> find() throws IOException {
    Optional<String> mpirun = Programs.inPath("mpirun");
    Optional<String> mpicc = Programs.inPath("mpicc");
    if (mpirun.isEmpty() || mpicc.isEmpty()) {
      return Optional.empty();
    }
    OpenMpi made = new OpenMpi(mpirun.get(), Files.createTempDirectory("regatta-openmpi"));
    try (InputStream source = OpenMpi.class.getResourceAsStream("/openmpi/" + SOURCE)) {
      Files.copy(source, made.directory.resolve(SOURCE));
      made.output(List.of(mpicc.get(), "-O2", "-o", "oneway", SOURCE));
      return Optional.of(made);
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  /** Sends so many bytes at a time for so many seconds. */
  public Sample run(double seconds, int bytes) throws IOException {
    String[] told = output(List.of(mpirun, "-n", "2", "--oversubscribe", "--mca", "btl", "tcp,self", "--mca",
        "btl_tcp_if_include", "lo", "./oneway", Double.toString(seconds), Integer.toString(bytes))).trim().split("\\s+");
    if (told.length != 4) {
      throw new PeerLost("OpenMPI's program printed " + String.join(" ", told) + " where four numbers were expected");
    }
    return new Sample(Double.parseDouble(told[0]) / GIGA, Double.parseDouble(told[1]), Double.parseDouble(told[2]),
        Double.parseDouble(told[3]));
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
    for (String file : List.of(SOURCE, "oneway")) {
      Files.deleteIfExists(directory.resolve(file));
    }
    Files.delete(directory);
  }
}
