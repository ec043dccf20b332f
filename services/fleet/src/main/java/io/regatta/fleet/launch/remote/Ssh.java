package io.regatta.fleet.launch.remote;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The user's own ssh, with its keys and configuration: it runs scripts for sh and copies directories. Directories are
 * copied by rsync if both ends have it, else as tar archives. Blocking; the launcher's thread, except {@link #stop}.
 */
final class Ssh {

  /** Exit status of ssh itself if it cannot connect. */
  private static final int UNREACHABLE = 255;
  /** Time within which this process, too, gets a signal that a terminal has sent to a child, ms. */
  private static final long SIGNAL_MILLIS = 300;
  private final List<String> words;
  private final String path;
  private final Set<Process> running = ConcurrentHashMap.newKeySet();
  private final CountDownLatch stopped = new CountDownLatch(1);

  /**
   * Creates an ssh with the directories of PATH.
   *
   * @param command {@code ssh}, maybe with options
   */
  Ssh(String command) {
    this(command, System.getenv().getOrDefault("PATH", ""));
  }

  /**
   * Creates an ssh.
   *
   * @param path directories in which this machine's programs are
   */
  Ssh(String command, String path) {
    words = List.of(command.strip().split("\\s+"));
    this.path = path;
  }

  /** Returns a word that sh takes as it is. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private List<String> words(RemoteHost host) {
    List<String> command = new ArrayList<>(words);
    command.addAll(List.of("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o",
        "ServerAliveCountMax=3"));
    if (host.port() > 0) {
      command.addAll(List.of("-p", Integer.toString(host.port())));
    }
    return command;
  }

  /** Ends the running commands, with {@link Cancelled} for their callers, and refuses all later ones. Any thread. */
  void stop() {
    stopped.countDown();
    running.forEach(Ssh::end);
  }

  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
  }

  /** Returns the command that has a host's sh run a script; its end and its output are the script's. */
  List<String> command(RemoteHost host, String script) {
    List<String> command = words(host);
    command.addAll(List.of("--", host.login(), "sh -c " + quoted(script)));
    return command;
  }

  /** Runs a script by a host's sh, which reads these bytes. */
  void run(RemoteHost host, String script, byte[] input, String what) {
    await(host, what, List.of(new ProcessBuilder(command(host, script))), input);
  }

  /** Copies the content of a directory into one of the host, which exists. Files that only that one has stay. */
  void send(Path directory, RemoteHost host, String to) {
    String what = "the workspace " + directory + " cannot be copied to " + host.login() + ":" + to;
    if (isInstalled("rsync") && isInstalled("rsync", host)) {
      await(host, what, List.of(new ProcessBuilder("rsync", "-a", "--exclude=/log", "--exclude=/nodefile", "-e",
          String.join(" ", words(host)), directory + "/", host.login() + ":" + to + "/")), null);
    } else {
      await(host, what, List.of(new ProcessBuilder("tar", "-C", directory.toString(), "--exclude=./log", "--exclude=./nodefile",
          "-cf", "-", "."), new ProcessBuilder(command(host, "tar -C " + quoted(to) + " -xf -"))), null);
    }
  }

  /** Copies the content of a directory of a host to one here. */
  void fetch(RemoteHost host, String from, Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new InvalidInput(directory + " cannot be made: " + e.getMessage());
    }
    await(host, "the logs of " + host.login() + " in " + from + " cannot be brought here",
        List.of(new ProcessBuilder(command(host, "tar -C " + quoted(from) + " -cf - .")),
            new ProcessBuilder("tar", "-C", directory.toString(), "-xf", "-")), null);
  }

  private boolean isInstalled(String program) {
    return Stream.of(path.split(File.pathSeparator))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
  }

  private boolean isInstalled(String program, RemoteHost host) {
    try {
      await(host, "cannot be asked for " + program, List.of(new ProcessBuilder(command(host, "command -v " + program))), null);
      return true;
    } catch (InvalidInput statusOfTheQuestion) {
      return false;
    }
  }

  /** Runs a chain of commands to its end. */
  private void await(RemoteHost host, String what, List<ProcessBuilder> chain, byte[] input) {
    try {
      Path errors = Files.createTempFile("regatta-ssh", ".log");
      try {
        chain.forEach(command -> command.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile())));
        ProcessBuilder last = chain.get(chain.size() - 1);
        last.redirectOutput(ProcessBuilder.Redirect.appendTo(errors.toFile()));
        if (input == null) {
          chain.get(0).redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
        }
        List<Process> started = stopped.getCount() == 0 ? List.of() : ProcessBuilder.startPipeline(chain);
        running.addAll(started);
        if (stopped.getCount() == 0) { // who stopped all may not have seen these
          started.forEach(Ssh::end);
          throw new Cancelled(what + ": the launcher was stopped");
        }
        if (input != null) {
          try (OutputStream in = started.get(0).getOutputStream()) {
            in.write(input);
          } catch (IOException ended) {
            // it says why by its status
          }
        }
        for (Process process : started) {
          check(host, what, process.waitFor(), errors);
        }
      } finally {
        running.removeIf(process -> !process.isAlive());
        Files.delete(errors);
      }
    } catch (IOException e) {
      throw new InvalidInput(what + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled(what + ": the launcher was interrupted");
    }
  }

  private void check(RemoteHost host, String what, int status, Path errors) throws IOException, InterruptedException {
    if (status == 0) {
      return;
    }
    if (stopped.await(SIGNAL_MILLIS, TimeUnit.MILLISECONDS)) {
      throw new Cancelled(what + ": the launcher was stopped");
    }
    String said = Files.readString(errors, StandardCharsets.UTF_8).strip().replaceAll("\\s*\\R\\s*", "; ");
    if (status == UNREACHABLE) {
      throw new PeerLost("host " + host.login() + (host.port() > 0 ? ":" + host.port() : "") + " cannot be reached over ssh: " + said
          + ". It must take a login without a password (keys, or an agent)");
    }
    throw new InvalidInput(what + ": status " + status + (said.isEmpty() ? "" : ", " + said));
  }
}
