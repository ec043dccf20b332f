package io.regatta.core.file;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A large file while it is written, beside its final name. Belongs to its writer's thread; blocks, so not on an event
 * loop. Several writers may write the same file at a time, each under a hidden name of its own, {@code
 * .NAME.UUID.unfinished}. The file is locked, so that the rest of a killed writer can be distinguished from the file of
 * a living one, in any process.
 */
public final class UnfinishedFile implements AutoCloseable {

  private static final String SUFFIX = ".unfinished";
  private static final Pattern NAME = Pattern.compile("\\.(.+)\\.[0-9a-f-]{36}" + Pattern.quote(SUFFIX));
  /**
   * Names of the unfinished files of this process. Their locks are not tested: POSIX releases a process's lock with any
   * of its descriptors.
   */
  private static final Set<String> OPEN = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final Path file;
  private final FileChannel channel;

  private UnfinishedFile(Path path, Path file, FileChannel channel) {
    this.path = path;
    this.file = file;
    this.channel = channel;
  }

  /** Creates a file that is to become this one, whose directory exists. */
  public static UnfinishedFile of(Path file) throws IOException {
    while (true) {
      Path path = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID() + SUFFIX);
      OPEN.add(path.getFileName().toString());
      UnfinishedFile begun = new UnfinishedFile(path, file, open(path));
      if (begun.isLocked()) {
        return begun;
      }
      begun.close(); // taken for a dead one's before it was locked
    }
  }

  private static FileChannel open(Path path) throws IOException {
    try {
      return FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (IOException e) {
      OPEN.remove(path.getFileName().toString());
      throw e;
    }
  }

  /**
   * Returns true if the writer holds the lock. On a file system without locks no writer has one, and nothing is
   * removed.
   */
  private boolean isLocked() {
    try {
      return channel.tryLock() != null && Files.exists(path);
    } catch (IOException noLocks) {
      return true;
    }
  }

  /** Returns a stream that writes to the file, unbuffered. It ends with this object and need not be closed. */
  public OutputStream stream() {
    return Channels.newOutputStream(channel);
  }

  /** Gives the complete file its name, replacing any other; returns its size in bytes. */
  public long publish() throws IOException {
    long bytes = channel.size();
    Files.move(path, file, StandardCopyOption.ATOMIC_MOVE);
    return bytes;
  }

  /** Removes the file, if it has not been published. */
  @Override
  public void close() throws IOException {
    try (channel) {
      Files.deleteIfExists(path);
    } finally {
      OPEN.remove(path.getFileName().toString());
    }
  }

  /**
   * Removes files of killed writers in a directory. Files that cannot be opened or locked stay.
   *
   * @param names tests the final names of the files
   */
  public static void removeLeft(Path directory, Predicate<String> names) throws IOException {
    List<Path> left;
    try (Stream<Path> all = Files.list(directory)) {
      left = all.filter(path -> {
        String name = path.getFileName().toString();
        Matcher unfinished = NAME.matcher(name);
        return unfinished.matches() && names.test(unfinished.group(1)) && !OPEN.contains(name);
      }).toList();
    }
    left.forEach(UnfinishedFile::removeUnlessLocked);
  }

  private static void removeUnlessLocked(Path path) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE); FileLock lock = channel.tryLock()) {
      if (lock != null) {
        Files.deleteIfExists(path);
      }
    } catch (IOException | OverlappingFileLockException somebodys) {
      // it stays, or is gone
    }
  }
}
