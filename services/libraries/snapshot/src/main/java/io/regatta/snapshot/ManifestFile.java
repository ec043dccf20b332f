package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * The file {@code manifest.json}: JSON with the CRC-32C of its own text, computed with zeros in the checksum's place,
 * so that a flipped bit is noticed here, too. A directory without it is neither snapshot nor model. Stateless.
 */
public final class ManifestFile {

  public static final String NAME = "manifest.json";
  private static final String KEY = "checksum";
  private static final String NONE = "00000000";
  private static final Pattern CHECKSUM = Pattern.compile("\"checksum\" : \"([0-9a-f]{8})\"");

  private ManifestFile() {}

  /** Writes it to a file, which is on disk when this returns. */
  public static void write(Path file, JsonObject manifest) throws IOException {
    String text = manifest.copy().put(KEY, NONE).encodePrettily() + "\n";
    Files.writeString(file, text.replace("\"checksum\" : \"" + NONE + '"', "\"checksum\" : \"" + crc(text) + '"'));
    try (FileChannel written = FileChannel.open(file, StandardOpenOption.WRITE)) {
      written.force(true);
    }
  }

  /**
   * Returns the manifest of a directory.
   *
   * @throws InvalidInput if there is none, or it is damaged
   */
  public static JsonObject read(Path dir) {
    return read(ConfinedDirectory.of(dir));
  }

  /** Returns the manifest of a directory that a peer, or another manifest, may have named. */
  public static JsonObject read(ConfinedDirectory directory) {
    Path dir = directory.path();
    Path file = dir.resolve(NAME);
    String text;
    try (InputStream in = Channels.newInputStream(directory.open(NAME))) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new InvalidInput(dir + (!Files.exists(dir) ? " does not exist; name the directory of a model or snapshot"
          : " has no " + NAME + ": it is not a model or snapshot, or was not written to its end"));
    } catch (IOException e) {
      throw new InvalidInput(Files.isRegularFile(dir) ? dir + " is a file; name the directory of a model or snapshot"
          : file + " cannot be read: " + e, e);
    }
    Matcher checksum = CHECKSUM.matcher(text);
    boolean has = checksum.find(); // models of earlier releases have none
    if (has) {
      String zeros = text.substring(0, checksum.start(1)) + NONE + text.substring(checksum.end(1));
      if (!checksum.group(1).equals(crc(zeros))) {
        throw new InvalidInput(file + " is damaged: its checksum is " + crc(zeros) + ", it says " + checksum.group(1));
      }
    }
    try {
      JsonObject manifest = new JsonObject(text);
      if (!has && (manifest.containsKey(KEY) || manifest.containsKey("kind"))) {
        throw new InvalidInput(file + " is damaged: its checksum cannot be read");
      }
      return manifest;
    } catch (RuntimeException e) {
      throw e instanceof InvalidInput ours ? ours : new InvalidInput(file + " is damaged: " + e.getMessage(), e);
    }
  }

  /** Returns the checksum of a directory's manifest, which distinguishes it from a later one under the same name. */
  public static String checksum(Path dir) {
    return checksum(read(dir));
  }

  /** Returns the checksum of a manifest that has been read; empty: it has none. */
  static String checksum(JsonObject manifest) {
    return manifest.getString(KEY, "");
  }

  private static String crc(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return String.format("%08x", crc.getValue());
  }
}
