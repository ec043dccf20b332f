package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.role.LaunchedRole;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The log directory of one launch. Owned by the launcher's thread. PaddlePaddle's launch overwrites files of the same
 * names and leaves all others. With fewer trainers than before, the logs of the last ones would be from the earlier
 * launch. Here the files of the launch before are moved to {@code previous/}, which keeps one launch. Files of roles
 * that this launch does not have stay, and are named: in a shared directory another machine may be writing them. A
 * launch holds a lock there while it lives, and no other one moves its files.
 */
final class LaunchLogs implements AutoCloseable {

  static final String PREVIOUS = "previous";
  private static final String LOCK = ".launch";
  private static final String ENDPOINTS = "endpoints.log";
  private static final Pattern LOG = Pattern.compile("(" + Stream.of(LaunchedRole.values()).map(LaunchedRole::log)
      .collect(Collectors.joining("|")) + ")\\.\\d{1,9}");

  /** Lock of this launch; null: another one had it. */
  private final FileChannel lock;
  private final List<String> lines;

  private LaunchLogs(FileChannel lock, List<String> lines) {
    this.lock = lock;
    this.lines = lines;
  }

  /** Returns the lines to print. */
  List<String> lines() {
    return lines;
  }

  /**
   * Makes room for the logs of a launch, and lists its endpoints.
   *
   * @throws InvalidInput if the directory cannot be written to
   */
  static LaunchLogs begin(Path logs, LaunchPlan plan) {
    try {
      Files.createDirectories(logs);
      FileChannel lock = lock(logs);
      return new LaunchLogs(lock, begin(logs, plan, lock != null));
    } catch (IOException e) {
      throw new InvalidInput("--log_dir " + logs + " cannot be written to: " + e.getMessage());
    }
  }

  private static FileChannel lock(Path logs) throws IOException {
    FileChannel file = FileChannel.open(logs.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (file.tryLock() != null) {
        return file;
      }
    } catch (OverlappingFileLockException ofThisProcess) {
      file.close();
      return null;
    } catch (IOException noLocksHere) { // some network file systems have none
      return file;
    }
    file.close();
    return null;
  }

  private static List<String> begin(Path logs, LaunchPlan plan, boolean alone) throws IOException {
    Path previous = logs.resolve(PREVIOUS);
    Set<String> lines = new LinkedHashSet<>();
    if (!alone && earlier(logs).stream().anyMatch(file -> isOwn(file, plan))) {
      lines.add("regatta: another launch that still runs has its logs in " + logs + ", too; files of the same names are written over: "
          + "give each launch its own --log_dir");
    }
    for (Path file : alone ? earlier(logs) : List.<Path>of()) {
      if (isOwn(file, plan)) {
        if (lines.isEmpty()) {
          empty(previous);
        }
        Files.move(file, previous.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        lines.add("logs of the launch before are in " + previous + " now");
      }
    }
    if (plan.collective()) {
      Files.writeString(logs.resolve(ENDPOINTS), plan.placesName() + ": \n" + String.join("\n", plan.places()) + "\n");
    }
    earlier(logs).stream().filter(file -> !isOwn(file, plan)).forEach(file -> lines.add("regatta: " + logs.resolve(role(file) + ".*")
        + " is of another launch, this one has none"));
    return List.copyOf(lines);
  }

  /** Releases the lock at the end of the launch. */
  @Override
  public void close() {
    if (lock != null) {
      try {
        lock.close();
      } catch (IOException e) {
        return; // it goes with the process
      }
    }
  }

  /** Empties the directory of the launch before; one launch is kept. */
  private static void empty(Path previous) throws IOException {
    Files.createDirectories(previous);
    for (Path file : earlier(previous)) {
      Files.deleteIfExists(file);
    }
  }

  /** Returns the log files, in the order of their names. */
  private static List<Path> earlier(Path logs) throws IOException {
    try (Stream<Path> files = Files.list(logs)) {
      return files.filter(file -> !role(file).isEmpty() && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
          .sorted(Comparator.comparing(Path::toString)).toList();
    }
  }

  /** Returns the role that a file's name begins with; empty: it is not a file of a launch. */
  private static String role(Path file) {
    String name = file.getFileName().toString();
    Matcher log = LOG.matcher(name);
    return log.matches() ? log.group(1) : name.equals(ENDPOINTS) ? name : "";
  }

  private static boolean isOwn(Path file, LaunchPlan plan) {
    return role(file).equals(ENDPOINTS) || plan.processes().stream().anyMatch(process -> process.role().log()
        .equals(role(file)));
  }
}
