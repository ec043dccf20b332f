package io.regatta.collective.store;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.loop.Deadline;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A store in a directory that all processes see: a file for each key, in the layout of PaddlePaddle's file store. A slash
 * in a key makes a subdirectory, so the keys of a job's ranks are {@code DIRECTORY/JOB/RANK}; white space is left out. Any
 * thread; files are touched on a worker thread of the store's own.
 *
 * <p>A value is written beside its file, under a name that ends in {@code _tmp}, and renamed: readers see all of it or
 * nothing. Writers take turns by a lock on the file {@value #LOCK}, which the operating system gives back when its holder
 * dies; on NFS this needs version 4, or a lock service. Before a file is looked for, its directory is listed: an NFS
 * client asks its server then, where it may believe for a minute that a file is still missing.
 *
 * <p>Files are touched through {@link ConfinedDirectory} alone, because others may write to the directory. No link
 * leads out of it, and nothing is written through a link. A pipe is not waited for, and no more of a file is read than
 * a value may have.
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

  private final ConfinedDirectory directory;
  private final WorkerExecutor files;

  /** The file of a key. */
  private record KeyFile(ConfinedDirectory in, String name) {}

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
    this.directory = ConfinedDirectory.of(directory.toAbsolutePath().normalize());
    this.files = vertx.createSharedWorkerExecutor("regatta-file-store-" + UUID.randomUUID(), 1);
  }

  private KeyFile file(String key) {
    String[] parts = key.replaceAll("\\s", "").split("/", -1);
    String name = parts[parts.length - 1];
    try {
      ConfinedDirectory in = directory;
      for (int i = 0; i < parts.length - 1; i++) {
        in = in.in(parts[i]);
      }
      in.pathOf(name);
      if (!name.endsWith(BESIDE) && !parts[0].equals(LOCK)) {
        return new KeyFile(in, name);
      }
    } catch (InvalidInput | InvalidPathException e) {
      throw noFile(key, e);
    }
    throw noFile(key, null);
  }

  private InvalidInput noFile(String key, RuntimeException cause) {
    return new InvalidInput("key \"" + PeerText.of(key) + "\" cannot be a file of " + this + ": a key is a relative path "
        + "without . and .., and without \\; it does not end in " + BESIDE + " and does not begin with " + LOCK
        + ". Choose another one", cause);
  }

  @Override
  Future<Void> put(String key, byte[] value) {
    KeyFile file = file(key);
    return locked(() -> {
      write(file, value);
      return null;
    });
  }

  @Override
  Future<Optional<byte[]>> read(String key) {
    KeyFile file = file(key);
    return files.executeBlocking(explained(() -> content(file)), false);
  }

  @Override
  Future<Boolean> swap(String key, Optional<byte[]> expected, byte[] value) {
    KeyFile file = file(key);
    return locked(() -> {
      Optional<byte[]> held = content(file);
      boolean as = held.isPresent() == expected.isPresent()
          && (held.isEmpty() || Arrays.equals(held.get(), expected.get()));
      if (as) {
        write(file, value);
      }
      return as;
    });
  }

  @Override
  Future<Boolean> remove(String key) {
    KeyFile file = file(key);
    return locked(() -> {
      BasicFileAttributes there = attributes(file);
      if (there == null || !there.isRegularFile()) {
        return false;
      }
      file.in.delete(file.name);
      return true;
    });
  }

  private static BasicFileAttributes attributes(KeyFile file) throws IOException {
    try {
      return file.in.attributes(file.name);
    } catch (NotDirectoryException e) {
      return null;
    }
  }

  private static void write(KeyFile file, byte[] value) throws IOException {
    file.in.make();
    String beside = file.name + "." + UUID.randomUUID() + BESIDE;
    try {
      try (FileChannel channel = file.in.create(beside)) {
        for (ByteBuffer bytes = ByteBuffer.wrap(value); bytes.hasRemaining();) {
          channel.write(bytes);
        }
      }
      file.in.rename(beside, file.name);
    } catch (IOException | RuntimeException e) {
      file.in.delete(beside);
      throw e;
    }
  }

  private static Optional<byte[]> content(KeyFile file) throws IOException {
    try {
      if (!file.in.lists(file.name)) {
        return Optional.empty();
      }
      try (FileChannel channel = file.in.open(file.name)) {
        byte[] value = Channels.newInputStream(channel).readNBytes(VALUE_BYTES + 1);
        if (value.length > VALUE_BYTES) {
          throw new InvalidInput(file.in.pathOf(file.name) + " has more than the " + VALUE_BYTES + " bytes that a value of a "
              + "store may have: another program has written it. Remove it, or give the store a directory of its own");
        }
        return Optional.of(value);
      }
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
        return Future.failedFuture(new PeerLost("another process has held " + directory.pathOf(LOCK) + " for "
            + LOCK_PATIENCE.toSeconds() + " s; look for one that hangs (its process id: lsof, or /proc/locks)"));
      }
      return after(LOCK_RETRY_MILLIS).compose(v -> locked(change, patience));
    });
  }

  private record Done<T>(T value) {}

  /** Returns empty if another process has the lock. */
  private <T> Optional<Done<T>> tryLocked(Callable<T> change) throws Exception {
    directory.make();
    if (!LOCKED.add(directory.path())) {
      return Optional.empty();
    }
    try (FileChannel channel = directory.updateOrCreate(LOCK); FileLock lock = channel.tryLock()) {
      return lock == null ? Optional.empty() : Optional.of(new Done<>(change.call()));
    } finally {
      LOCKED.remove(directory.path());
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
