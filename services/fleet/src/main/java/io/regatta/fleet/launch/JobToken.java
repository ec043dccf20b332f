package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.security.Macs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A token that a launch makes for its job: 256 random bits in a file of mode 0400, whose name the processes get by a
 * variable. A token of the user's is used before it. The file is there from {@link #write} until {@link #close}. Owned
 * by the launcher's thread.
 */
public final class JobToken implements AutoCloseable {

  static final String VARIABLE = "REGATTA_NODE_SECURITY_LAUNCH_TOKEN_FILE";
  private static final int NAME_BYTES = 4;

  private final Path file;
  private final String secret = Macs.randomText(Macs.BYTES);
  private final PrintWriter out;

  private JobToken(Path file, PrintWriter out) {
    this.file = file;
    this.out = out;
  }

  /**
   * Plans a token in a file of this directory; nothing is written yet.
   *
   * @param out gets a line if the file cannot be deleted
   */
  public static JobToken in(Path directory, PrintWriter out) {
    return new JobToken(directory.resolve(name()).toAbsolutePath().normalize(), out);
  }

  /** Returns a name for a token's file, which differs from that of every other launch. */
  static String name() {
    return ".token-" + Macs.randomText(NAME_BYTES);
  }

  public Path file() {
    return file;
  }

  /** Returns the content of the file. */
  public byte[] content() {
    return (secret + "\n").getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the variables of a process with the name of the file. */
  public Map<String, String> with(Map<String, String> variables) {
    return with(file.toString(), variables);
  }

  /** Returns the variables of a process on another machine, where the file has this name. */
  public static Map<String, String> with(String file, Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(variables);
    all.put(VARIABLE, file);
    return all;
  }

  /**
   * Writes the file.
   *
   * @throws InvalidInput if its directory cannot be made or written to
   */
  void write() {
    try {
      Files.createDirectories(file.getParent());
      boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
      FileAttribute<?>[] mode = posix
          ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))}
          : new FileAttribute<?>[0];
      Set<StandardOpenOption> made = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      try (SeekableByteChannel out = Files.newByteChannel(file, made, mode)) { // what is made is its owner's alone
        out.write(ByteBuffer.wrap(content())); // into that file, even if it has been renamed
      }
      if (posix) {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
      }
    } catch (IOException e) {
      throw new InvalidInput("the job's token cannot be written to " + file + ": " + e.getMessage()
          + "; give another --log_dir");
    }
  }

  /** Deletes the file. One that cannot be deleted is reported, and does not change the exit status. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      out.println("regatta: " + file + " with the token of this job, which has ended, cannot be deleted: "
          + e.getMessage() + "; delete it yourself");
      out.flush();
    }
  }
}
