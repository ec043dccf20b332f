package io.regatta.data.format;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The partition columns of a data set, whose values are in the names of directories as Hive, Spark and pyarrow write
 * them: {@code day=2026-11-22/country=de/part-0.parquet}. Stateless; any thread may use it.
 */
final class Partitions {

  private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
  private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,18}");
  private static final Pattern NUMBER = Pattern.compile("[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?");

  private Partitions() {}

  /** Returns the columns in the names of a file's directories: whole numbers, numbers, text, and null. */
  static Map<String, ParquetRows.Constant> of(Path file) {
    Map<String, ParquetRows.Constant> columns = new HashMap<>();
    for (Path parent = file.getParent(); parent != null && parent.getFileName() != null; parent = parent.getParent()) {
      String name = parent.getFileName().toString();
      int equals = name.indexOf('=');
      if (equals > 0) {
        columns.putIfAbsent(decode(name.substring(0, equals)), new ParquetRows.Constant(value(decode(name.substring(equals + 1)))));
      }
    }
    return columns;
  }

  private static Object value(String text) {
    if (text.equals(NULL) || text.isEmpty()) {
      return null;
    }
    return WHOLE.matcher(text).matches() ? (Object) Long.valueOf(text)
        : NUMBER.matcher(text).matches() ? (Object) Double.valueOf(text) : text;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) { // a percent sign that encodes nothing
      return text;
    }
  }
}
