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

/** Files in memory, in {@code /dev/shm}, that nobody but their user can open. All of this blocks. */
final class SharedFiles {
  private static final int NAME_BYTES = 16;
  /** Of a file, in the directory. */
  static final String NAME = "[0-9a-f]{" + 2 * NAME_BYTES + "}";
  private static final int ZEROS = 64 << 10;
  /** A reader takes memory within moments, or not at all. */
  private static final long UNTAKEN_MILLIS = 60_000;
  private static final AtomicBoolean SWEPT = new AtomicBoolean();
  /** The collector is asked for room no more often. */
  private static final long COLLECT_NANOS = 1_000_000_000L;
  /** So long its work may take to show. */
  private static final long SHOWS_NANOS = 250_000_000L;
  private static final long PAUSE_NANOS = 5_000_000L;
  /** Whether this process has had any. */
  private static final AtomicBoolean MADE = new AtomicBoolean();
  private static final Object ROOM = new Object();
  /** When the collector was asked last; under the lock of {@link #ROOM}. */
  private static long asked = SystemClock.get().nanos() - COLLECT_NANOS;
  /** Null where there is no file system in memory. */
  private static final UserDirectory DIRECTORY = Files.isDirectory(Path.of("/dev/shm")) ? UserDirectory.in(Path.of("/dev/shm")) : null;

  /** One that has been made. */
  record Made(Path path, FileChannel file) {}

  private SharedFiles() {}

  /** @throws IOException if there is no file system in memory here */
  static UserDirectory directory() throws IOException {
    if (DIRECTORY == null) {
      throw new IOException("there is no /dev/shm");
    }
    return DIRECTORY;
  }

  /**
   * Makes one of zeros, with all of its memory there: a system that has not enough says so now, and not by ending the process at a
   * later write.
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
   * Whether so much is left, if need be once the collector has given back what nobody here refers to any more: until then memory
   * that has been mapped takes its room, as direct memory does, and a heap with room of its own is collected rarely.
   */
  private static boolean hasRoom(long bytes) throws IOException {
    if (usable() >= bytes) {
      return true;
    }
    if (!MADE.get()) {
      return false;
    }
    synchronized (ROOM) { // several streams may be opened at a time: all have what one collection gives back
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
   * Takes the names of old memory away, which killed processes have left. One that waits for its reader may be among them, and will
   * wait in vain: to its writer that is memory like any other that nobody has taken.
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
