package io.regatta.protocol.memory;

import io.regatta.protocol.vertx.SystemClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** Files in memory, in {@code /dev/shm}, that only their user can open. All methods block. */
final class SharedFiles {
  private static final int NAME_BYTES = 16;
  /** Names of files in the directory. */
  static final String NAME = "[0-9a-f]{" + 2 * NAME_BYTES + "}";
  private static final int ZEROS = 64 << 10;
  /** A reader takes memory within moments, or not at all. */
  private static final long UNTAKEN_MILLIS = 60_000;
  private static final AtomicBoolean SWEPT = new AtomicBoolean();
  /** Shortest time between two requests to the collector for room. */
  private static final long COLLECT_NANOS = 1_000_000_000L;
  /** Time that the collector's work may take to show. */
  private static final long SHOWS_NANOS = 250_000_000L;
  private static final long PAUSE_NANOS = 5_000_000L;
  /** True once this process has made such a file. */
  private static final AtomicBoolean MADE = new AtomicBoolean();
  private static final Object ROOM = new Object();
  /** Time of the last request to the collector; under the lock of {@link #ROOM}. */
  private static long asked = SystemClock.get().nanos() - COLLECT_NANOS;
  /** Null if there is no file system in memory. */
  private static final UserDirectory DIRECTORY = Files.isDirectory(Path.of("/dev/shm")) ? UserDirectory.in(Path.of("/dev/shm")) : null;

  /** A file that has been made. */
  record Made(Path path, FileChannel file) {}

  private SharedFiles() {}

  /**
   * Returns the directory.
   *
   * @throws IOException if there is no file system in memory here
   */
  static UserDirectory directory() throws IOException {
    if (DIRECTORY == null) {
      throw new IOException("there is no /dev/shm");
    }
    return DIRECTORY;
  }

  /**
   * Makes a file of zeros, with all of its memory allocated: a system without enough memory fails now, and does not end
   * the process at a later write.
   *
   * @param reserve bytes that are left to others
   * @throws IOException if there can be none here
   */
  static Made create(long bytes, long reserve) throws IOException {
    directory().make();
    if (SWEPT.compareAndSet(false, true)) {
      sweep(SystemClock.get().epochMillis() - UNTAKEN_MILLIS);
    }
    if (!hasRoom(reserve + bytes)) {
      throw new IOException("there are less than " + (reserve + bytes >> 20) + " MiB left in /dev/shm");
    }
    byte[] random = new byte[NAME_BYTES];
    new SecureRandom().nextBytes(random);
    Path path = directory().path().resolve(HexFormat.of().formatHex(random));
    FileAttribute<?> own = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    FileChannel file = FileChannel.open(path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE), own);
    try {
      ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS);
      for (long left = bytes; left > 0; ) {
        left -= file.write(zeros.clear().limit((int) Math.min(ZEROS, left)));
      }
      MADE.set(true);
      return new Made(path, file);
    } catch (IOException | RuntimeException | Error e) {
      try (file) {
        Files.deleteIfExists(path);
      }
      throw e;
    }
  }

  /**
   * Returns true if there is room, if necessary after the collector has released unreachable mappings. Until then
   * mapped memory takes its room, as direct memory does, and a heap with room of its own is collected rarely.
   */
  private static boolean hasRoom(long bytes) throws IOException {
    if (usable() >= bytes) {
      return true;
    }
    if (!MADE.get()) {
      return false;
    }
    synchronized (ROOM) { // several streams may be opened at a time: all share what one collection releases
      boolean room = usable() >= bytes;
      if (!room && SystemClock.get().nanos() - asked >= COLLECT_NANOS) {
        asked = SystemClock.get().nanos();
        System.gc();
      }
      while (!room && SystemClock.get().nanos() - asked < SHOWS_NANOS) {
        SystemClock.get().pause(PAUSE_NANOS);
        room = usable() >= bytes;
      }
      return room;
    }
  }

  private static long usable() throws IOException {
    return Files.getFileStore(directory().path()).getUsableSpace();
  }

  /**
   * Removes the names of old memory that killed processes have left. Memory that still waits for its reader may be
   * among them, and then waits in vain: its writer treats it as memory that was not taken.
   */
  private static void sweep(long before) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory().path())) {
      for (Path file : files) {
        if (file.getFileName().toString().matches(NAME) && Files.exists(file)
            && Files.getLastModifiedTime(file).toMillis() < before) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
