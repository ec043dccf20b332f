package io.regatta.snapshot;

import io.regatta.snapshot.safetensors.SafetensorsFile;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The names of a model's files: values alone, for serving. Stateless. */
public final class ModelFiles {

  public static final String DENSE = "dense.safetensors";

  private ModelFiles() {}

  /**
   * Returns the file of a table: letters, digits, {@code . _ -} stay, every other byte of the name in UTF-8 is
   * {@code %XX}, so that no two tables share a file.
   */
  public static String table(String table) {
    StringBuilder name = new StringBuilder("table-");
    for (byte b : table.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || ".-_".indexOf(b) >= 0;
      name.append(plain ? String.valueOf((char) b) : String.format(Locale.ROOT, "%%%02X", b));
    }
    return name.append(SafetensorsFile.SUFFIX).toString();
  }
}
