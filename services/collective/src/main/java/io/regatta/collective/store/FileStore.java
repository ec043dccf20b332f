package io.regatta.collective.store;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Deadline;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A store in a directory that all processes see: a file for each key, in the layout of PaddlePaddle's file store. A slash
 * in a key makes a subdirectory, so the keys of a job's ranks are {@code DIRECTORY/JOB/RANK}; white space is left out. Any
 * thread; files are touched on a worker thread of the store's own.
 *
 * <p>A value is written beside its file, under a name that ends in {@code _tmp}, and renamed: readers see all of it or
 * nothing. Writers take turns by a lock on the file {@value #LOCK}, which the operating system gives back when its holder
 * dies; on NFS this needs version 4, or a lock service. Before a file is looked for, its directory is listed: an NFS
 * client asks its server then, where it may believe for a minute that a file is still missing.
 */
public final class FileStore extends PolledStore {
  private static final String LOCK = ".lock";
  private static final String BESIDE = "_tmp";
  private static final long LOCK_RETRY_MILLIS = 3;
  private static final Duration LOCK_PATIENCE = Duration.ofSeconds(30);
  private static final int FIRST_POLL_MILLIS = 5;
  private static final int POLL_MILLIS = 1000;
  /** Directories whose lock is held in this JVM: a lock file must not be opened and closed beside its holder. */
  private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final WorkerExecutor files;

  /** Creates a store with a pause of at most one second between looks. */
  public FileStore(Vertx vertx, Path directory) {
    this(vertx, directory, Duration.ofMillis(POLL_MILLIS));
  }

  /**
   * Creates a store in a directory, which is made when the first key is set.
   *
   * @param poll longest pause between two looks for a key; PaddlePaddle's takes 10 s
   */
  public FileStore(Vertx vertx, Path directory, Duration poll) {
    super(vertx, Math.min(FIRST_POLL_MILLIS, poll.toMillis()), poll.toMillis());
    this.directory = directory.toAbsolutePath().normalize();
    this.files = vertx.createSharedWorkerExecutor("regatta-file-store-" + UUID.randomUUID(), 1);
  }

  private Path path(String key) {
    String name = key.replaceAll("\\s", "");
    Path path;
    try {
      path = directory.resolve(name);
    } catch (InvalidPathException e) {
      throw new InvalidInput("key \"" + key + "\" cannot be a file of " + this + ": " + e.getReason(), e);
    }
    if (name.isEmpty() || name.startsWith("/") || name.endsWith("/") || name.contains("//") || name.endsWith(BESIDE)
        || !path.normalize().equals(path) || path.equals(directory.resolve(LOCK))) {
      throw new InvalidInput("key \"" + key + "\" cannot be a file of " + this + ": a key is a relative path without . and "
          + "..; it does not end in " + BESIDE + " and is not " + LOCK);
    }
    return path;
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    Path path = path(key);
    return locked(() -> {
      write(path, value);
      return null;
    });
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    Path path = path(key);
    return files.executeBlocking(explained(() -> content(path)), false);
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    Path path = path(key);
    return locked(() -> {
      Optional<byte[]> held = content(path);
      boolean as = held.isPresent() == expected.isPresent()
          && (held.isEmpty() || Arrays.equals(held.get(), expected.get()));
      if (as) {
        write(path, value);
      }
      return as;
    });
  }

  @Override
  Future<Boolean> remove(String key) {
    Path path = path(key);
    return locked(() -> Files.isRegularFile(path) && Files.deleteIfExists(path));
  }

  private static void write(Path path, byte[] value) throws IOException {
    Files.createDirectories(path.getParent());
    Path beside = path.resolveSibling(path.getFileName() + "." + UUID.randomUUID() + BESIDE);
    try {
      Files.write(beside, value);
      Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(beside);
    }
  }

  private static Optional<byte[]> content(Path path) throws IOException {
    try (Stream<Path> listed = Files.list(path.getParent())) {
      if (listed.noneMatch(path::equals)) {
        return Optional.empty();
      }
      return Files.isDirectory(path) ? Optional.empty() : Optional.of(Files.readAllBytes(path));
    } catch (NoSuchFileException | NotDirectoryException e) {
      return Optional.empty();
    }
  }

  /** Makes a change while no other process writes. */
  private <T> Future<T> locked(Callable<T> change) {
    return locked(change, Deadline.in(VertxLoop.current(vertx).clock(), LOCK_PATIENCE));
  }

  private <T> Future<T> locked(Callable<T> change, Deadline patience) {
    return files.executeBlocking(explained(() -> tryLocked(change)), false).compose(done -> {
      if (done.isPresent()) {
        return Future.succeededFuture(done.get().value());
      }
      if (patience.isPast()) {
        return Future.failedFuture(new PeerLost("another process has held " + directory.resolve(LOCK) + " for "
            + LOCK_PATIENCE.toSeconds() + " s; look for one that hangs (its process id: lsof, or /proc/locks)"));
      }
      return after(LOCK_RETRY_MILLIS).compose(v -> locked(change, patience));
    });
  }

  private record Done<T>(T value) {}

  /** Returns empty if another process has the lock. */
  private <T> Optional<Done<T>> tryLocked(Callable<T> change) throws Exception {
    Files.createDirectories(directory);
    if (!LOCKED.add(directory)) {
      return Optional.empty();
    }
    try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE,
        StandardOpenOption.WRITE); FileLock lock = channel.tryLock()) {
      return lock == null ? Optional.empty() : Optional.of(new Done<>(change.call()));
    } finally {
      LOCKED.remove(directory);
    }
  }

  private <T> Callable<T> explained(Callable<T> work) {
    return () -> {
      try {
        return work.call();
      } catch (RegattaException e) {
        throw e;
      } catch (IOException e) {
        throw new PeerLost(this + " cannot be used: " + e + "; every member must be able to write there", e);
      }
    };
  }

  @Override
  Future<Void> end() {
    return files.close();
  }

  @Override
  public String toString() {
    return "store in directory " + directory;
  }
}
