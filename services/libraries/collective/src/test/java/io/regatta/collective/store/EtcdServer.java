package io.regatta.collective.store;

import io.regatta.node.address.HostPort;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.testing.FreePorts;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A cluster of real etcd members on loopback, of the program {@code etcd} on {@code PATH}. One thread. */
final class EtcdServer implements AutoCloseable {
  private static final int START_SECONDS = 60;
  private static final int LOOK_MILLIS = 50;

  private final List<Process> processes = new ArrayList<>();
  private final List<HostPort> members = new ArrayList<>();

  /** Returns the program; empty if it is not installed. */
  static Optional<Path> program() {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty()).map(directory -> Path.of(directory, "etcd"))
        .filter(Files::isExecutable).findFirst();
  }

  /** Starts a cluster, and returns when each member serves clients. */
  EtcdServer(Path program, Path directory, int size) throws IOException, InterruptedException {
    int first = FreePorts.first(2 * size);
    String cluster = IntStream.range(0, size).mapToObj(i -> "m" + i + "=" + url(first + size + i))
        .collect(Collectors.joining(","));
    for (int i = 0; i < size; i++) {
      String client = url(first + i);
      String peer = url(first + size + i);
      processes.add(new ProcessBuilder(program.toString(), "--name", "m" + i,
          "--data-dir", directory.resolve("m" + i).toString(),
          "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
          "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster, "--log-level", "error")
          .redirectErrorStream(true).redirectOutput(directory.resolve("log" + i).toFile()).start());
      members.add(new HostPort("127.0.0.1", first + i));
    }
    for (int i = 0; i < size; i++) {
      await(i, directory.resolve("log" + i));
    }
  }

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private void await(int member, Path log) throws IOException, InterruptedException {
    for (int look = 0; SeedProbe.refusal(members.get(member)) != null; look++) {
      boolean ended = processes.get(member).waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      if (ended || look * LOOK_MILLIS > TimeUnit.SECONDS.toMillis(START_SECONDS)) {
        close();
        throw new IOException("etcd has not started: " + Files.readString(log));
      }
    }
  }

  List<HostPort> members() {
    return members;
  }

  void kill(int member) throws InterruptedException {
    processes.get(member).destroyForcibly().waitFor();
  }

  @Override
  public void close() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }
}
