package io.regatta.data.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** The public data sets, where {@code -Dregatta.data} says; a test that needs a missing one is skipped by name. */
public final class DataSets {

  private DataSets() {}

  /** A directory of {@code -Dregatta.data}, or the calling test is skipped. */
  public static Path directory(String name) {
    String root = System.getProperty("regatta.data", "");
    Assumptions.assumeTrue(!root.isBlank(), "data set " + name + " is missing: set -Dregatta.data=DIR");
    Path directory = Path.of(root, name);
    Assumptions.assumeTrue(Files.isDirectory(directory), "data set " + name + " is missing: no " + directory);
    return directory;
  }
}
