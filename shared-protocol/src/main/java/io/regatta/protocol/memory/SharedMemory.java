package io.regatta.protocol.memory;

import io.regatta.core.collective.TensorMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory for tensors of this process that other processes of the same user and machine read in place, so that nothing
 * is copied to send it. It is a file in memory without a name, which others open by its number among this process's
 * open files. It is gone when this process has ended, in any way, and no other reads it any more. Other processes can
 * only read it.
 */
public final class SharedMemory extends TensorMemory {
  /** Most bytes that a peer may ask this process to map. */
  private static final long MAX_BYTES = Integer.MAX_VALUE;
  /** Bytes left to the rings of streams, without which nothing is lent; as much as is taken is left as well. */
  private static final long RESERVE_BYTES = 16 << 20;
  private static final Pattern NAME = Pattern.compile("([0-9]{1,10})/([0-9]{1,10})/(" + SharedFiles.NAME + ")");

  /** Kept open, so that others can open it; closed by the collector when this object is unreachable. */
  @SuppressWarnings("unused")
  private final FileChannel file;
  private final String name;

  private SharedMemory(MappedByteBuffer memory, FileChannel file, String name) {
    super(memory);
    this.file = file;
    this.name = name;
  }

  /**
   * Allocates zeroed memory. Blocks.
   *
   * @param bytes at least 1
   * @throws IOException if there can be none here
   */
  public static SharedMemory allocate(int bytes) throws IOException {
    SharedFiles.Made made = SharedFiles.create(bytes, RESERVE_BYTES + bytes);
    try {
      String name = ProcessHandle.current().pid() + "/" + number(made.path().toRealPath()) + "/" + made.path().getFileName();
      return new SharedMemory(made.file().map(FileChannel.MapMode.READ_WRITE, 0, bytes), made.file(), name);
    } catch (IOException | RuntimeException | Error e) {
      made.file().close();
      throw e;
    } finally {
      Files.deleteIfExists(made.path());
    }
  }

  private static void check(Path link, String file) throws IOException {
    if (!file.equals(target(link))) {
      throw new IOException(link + " is not the memory " + file);
    }
  }

  /** Returns the number of a file among those that this process has open. */
  private static String number(Path path) throws IOException {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path of : open) {
        if (path.toString().equals(target(of))) {
          return of.getFileName().toString();
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    throw new IOException("the system does not say which number the open file " + path + " has");
  }

  /** Returns the target of a link; null if it does not exist any more. */
  private static String target(Path link) throws IOException {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (NoSuchFileException gone) {
      return null;
    }
  }

  /** Returns the name for {@link #open} in another process. */
  public String name() {
    return name;
  }

  /**
   * Opens memory of another process, read-only. Blocks.
   *
   * @param name {@link #name} of memory that a process of this user and machine has
   * @throws IOException if it cannot be read here
   */
  public static ByteBuffer open(String name) throws IOException {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      throw new IOException("no memory of a process is called " + name);
    }
    Path link = Path.of("/proc", parts.group(1), "fd", parts.group(2));
    String file = SharedFiles.directory().path().toRealPath().resolve(parts.group(3)) + " (deleted)";
    check(link, file);
    try (FileChannel opened = FileChannel.open(link, StandardOpenOption.READ)) {
      check(link, file); // the opened file is that one, for no two files have one name
      if (opened.size() > MAX_BYTES) {
        throw new IOException(link + " has " + opened.size() + " bytes, more than can be mapped");
      }
      return opened.map(FileChannel.MapMode.READ_ONLY, 0, opened.size());
    }
  }
}
