package io.regatta.data.generate;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.file.ConfinedDirectory;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * The description of data of {@link CriteoGenerator}, as written next to them in {@link #NAME}. Immutable; any thread
 * may use it.
 *
 * @param version of the teacher and the format; another version means other data
 * @param size the requested size
 * @param bestAuc AUC of the true probabilities on the test file: a model can exceed it only by chance
 * @param bestLogloss log loss of the true probabilities on the test file
 * @param positiveRate share of label 1 in the test file
 * @param files training files in order, then the test file
 */
public record GeneratedCriteo(int version, CriteoGenerator.Size size, double bestAuc, double bestLogloss,
    double positiveRate, List<File> files) {

  /** Name of the description. */
  public static final String NAME = "criteo.json";

  static final ObjectMapper JSON = new ObjectMapper();

  /** A generated file. */
  public record File(String name, long bytes, String sha256) {

    /**
     * @throws io.regatta.core.error.RegattaException.InvalidInput if the name is not one of a file within a directory
     */
    public File {
      ConfinedDirectory.checkName(name);
    }

    /** Returns true if the file is in {@code directory}, unchanged. */
    boolean intact(Path directory) throws IOException {
      Path path = directory.resolve(name);
      if (!Files.isRegularFile(path) || Files.size(path) != bytes) {
        return false;
      }
      MessageDigest digest = GeneratedCriteo.sha256();
      try (OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
        Files.copy(path, out);
      }
      return HexFormat.of().formatHex(digest.digest()).equals(sha256);
    }
  }

  /** Returns the description in {@code directory}, or null if there is no readable one. */
  public static GeneratedCriteo in(Path directory) {
    Path file = directory.resolve(NAME);
    try {
      return Files.isRegularFile(file) ? JSON.readValue(file.toFile(), GeneratedCriteo.class) : null;
    } catch (IOException damaged) {
      return null;
    }
  }

  /** Returns the training files in {@code directory}, in order. */
  public List<Path> train(Path directory) {
    return files.subList(0, files.size() - 1).stream().map(file -> directory.resolve(file.name())).toList();
  }

  /** Returns the test file in {@code directory}. */
  public Path test(Path directory) {
    return directory.resolve(files.get(files.size() - 1).name());
  }

  void write(Path file) throws IOException {
    JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), this);
  }

  /** Returns true if all files are in {@code directory}, unchanged. */
  boolean intact(Path directory) throws IOException {
    for (File file : files) {
      if (!file.intact(directory)) {
        return false;
      }
    }
    return true;
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
