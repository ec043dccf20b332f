package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.protocol.parameterserver.SavedReply;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * A file's entry in the manifest.
 *
 * @param file name within the directory
 * @param sha256 of all its bytes, hex
 */
public record FileEntry(String file, long bytes, String sha256) {

  /** @throws InvalidInput if the name is not one of a file within a directory */
  public FileEntry {
    ConfinedDirectory.checkName(file);
  }

  /** Opens a file of tensors; the caller closes it. Fails as {@link ConfinedDirectory#open} does. */
  public SafetensorsFile tensors(ConfinedDirectory dir) throws IOException {
    return SafetensorsFile.open(dir, file);
  }

  /**
   * Returns the entry of a file of tensors, after a check against the checksums that the writer has recorded.
   *
   * @throws InvalidInput if the disk returns other bytes
   */
  public static FileEntry ofTensors(Path path, String name) throws IOException {
    return ofTensors(FileChannel.open(path), path, name);
  }

  /** Returns the entry of a file of tensors in this directory, after the same check. */
  static FileEntry ofTensors(ConfinedDirectory dir, String name) throws IOException {
    return ofTensors(dir.open(name), dir.pathOf(name), name);
  }

  private static FileEntry ofTensors(FileChannel file, Path path, String name) throws IOException {
    try (SafetensorsFile tensors = SafetensorsFile.of(path, file)) {
      List<String> damaged = tensors.damagedTensors();
      if (!damaged.isEmpty()) {
        throw new InvalidInput(path + " is not what was written, in tensors " + damaged + ": check the disk, or write to "
            + "another one");
      }
      return new FileEntry(name, file.size(), sha256(file));
    }
  }

  /** Returns the entry of a file that a server reports as written. */
  public static FileEntry of(SavedReply reply) {
    return new FileEntry(reply.getFile(), reply.getBytes(), reply.getSha256());
  }

  /** Returns the entry of a file as it is now: reads all of it. */
  public static FileEntry of(Path path, String name) throws IOException {
    try (FileChannel file = FileChannel.open(path)) {
      return new FileEntry(name, file.size(), sha256(file));
    }
  }

  /**
   * Returns how the file in this directory differs from the manifest, naming the file and, if possible, the tensor;
   * null if it does not.
   */
  public String damage(ConfinedDirectory dir) throws IOException {
    Path path = dir.pathOf(file);
    try (FileChannel content = dir.open(file)) {
      long size = content.size();
      if (size != bytes) {
        return path + " has " + size + " bytes instead of " + bytes + (size < bytes ? ": it was cut" : "");
      }
      return sha256(content).equals(sha256) ? null : path + " is damaged" + where(dir);
    } catch (NoSuchFileException e) {
      return path + " is missing";
    }
  }

  private String where(ConfinedDirectory dir) throws IOException {
    if (!file.endsWith(SafetensorsFile.SUFFIX)) {
      return "";
    }
    try (SafetensorsFile tensors = tensors(dir)) {
      List<String> damaged = tensors.damagedTensors();
      return damaged.isEmpty() ? " in its header" : " in tensor" + (damaged.size() == 1 ? " " : "s ")
          + String.join(", ", damaged);
    } catch (InvalidInput e) {
      return " in its header";
    }
  }

  private static String sha256(FileChannel file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      ByteBuffer piece = ByteBuffer.allocate(1 << 18);
      for (long at = 0; file.read(piece.clear(), at) >= 0; at += piece.limit()) {
        digest.update(piece.flip());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  public JsonObject toJson() {
    return new JsonObject().put("file", file).put("bytes", bytes).put("sha256", sha256);
  }

  static FileEntry of(JsonObject json) {
    return new FileEntry(json.getString("file"), json.getLong("bytes"), json.getString("sha256"));
  }
}
