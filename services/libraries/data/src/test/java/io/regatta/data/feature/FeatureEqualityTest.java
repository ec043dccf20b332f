package io.regatta.data.feature;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.regatta.core.feature.BucketFeature;
import io.regatta.core.feature.CrossFeature;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.Feature.Pooling;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.IdCoding;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.IdsFeature;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.NumberFeature.Scale;
import io.regatta.core.feature.NumberFeature.Transform;
import io.regatta.core.feature.SequenceFeature;
import io.regatta.core.feature.TextFeature;
import io.regatta.core.feature.TimeFeature;
import io.regatta.data.BadLines;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same random rows, malformed ones among them, in all formats: the same bits of the same examples. {@code
 * -Dregatta.equality.rows=100000} reads more.
 */
class FeatureEqualityTest {

  static final int ROWS = Integer.getInteger("regatta.equality.rows", 10_000);
  private static final double ANY = Double.POSITIVE_INFINITY;
  static final List<Feature> FEATURES = List.of(
      new NumberFeature("n", "n", Missing.OWN, Double.NaN, -1e6, 1e6, Transform.LOG, 1, Scale.NONE),
      new NumberFeature("m", "n", Missing.NONE, 2, -ANY, ANY, Transform.NONE, 1, Scale.NONE),
      new BucketFeature("b", "b", Missing.OWN, "b", List.of(-1.0, 0.0, 0.5, 100.0), 0),
      new IdFeature("c", "c", Missing.OWN, IdCoding.of("c")),
      new IdFeature("d", "d", Missing.NONE, new IdCoding("d", 1, 50, List.of(), false)),
      new IdsFeature("t", "t", Missing.OWN, "|", ":", 3, Pooling.MEAN, IdCoding.of("t")),
      new SequenceFeature("s", "s", Missing.OWN, "|", 4, SequenceFeature.Keep.LAST, IdCoding.of("c")),
      new CrossFeature("cxb", "cxb", List.of("c", "b")),
      new TextFeature("x", "x", Missing.OWN, 2, 6, Pooling.SUM, IdCoding.of("x")),
      new TimeFeature("w", "w", Missing.OWN, TimeFeature.Format.EPOCH_S, "", ZoneId.of("UTC"),
          List.of(TimeFeature.Part.HOUR, TimeFeature.Part.WEEKDAY), null));
  static final FeatureTransform TRANSFORM = FeatureTransform.of(FEATURES, FeatureStatistics.NONE);
  private static final LabelColumn LABEL = new LabelColumn("y", "", false);
  static final List<String> COLUMNS = List.of("n", "b", "c", "d", "t", "s", "x", "w", "y");
  private static final String[] TEXTS = {"", "a", "b", "ünï", "日本", "\"q\"", "a,b", "\\", "Tom & Ada", "😀", "-7", "12345678901234567890", "x y  z",
      "L".repeat(300), "null", "NaN", "{", "'"};
  private static final String[] NUMBERS = {"", "0", "-0", "1", "0.5", "-1", "99.999999999", "1e5", "123456789012", "1E-7", "3.0000000000000001"};

  @TempDir
  Path dir;

  @Test
  void rows_are_the_same_in_all_formats() throws IOException {
    write();
    RowFormat<?>[] formats = Arrays.asList("csv", "tsv", "json").stream().map(name -> RowFormats.of(name, List.of(),
        new LinkedHashSet<>(addLabel()), Set.of())).toArray(RowFormat<?>[]::new);
    List<Read<?>> reads = new ArrayList<>();
    for (RowFormat<?> format : formats) {
      reads.add(new Read<>(format, dir.resolve("rows." + format.name())));
    }
    int good = 0;
    for (int i = 0; i < ROWS; i++) {
      boolean first = reads.get(0).next();
      good += first ? 1 : 0;
      for (Read<?> other : reads.subList(1, reads.size())) {
        if (other.next() != first) {
          throw new AssertionError("row " + i + " is " + (first ? "bad" : "good") + " in " + other.source.name() + " alone: " + other.text());
        }
        if (first) {
          other.requireSame(reads.get(0), i);
        }
      }
    }
    reads.forEach(Read::close);
    assertThat(good).isBetween(ROWS / 2, ROWS - ROWS / 100);
  }

  private static List<String> addLabel() {
    List<String> columns = new ArrayList<>(TRANSFORM.columns());
    columns.add("y");
    return columns;
  }

  /** A source that is read row by row. */
  private static final class Read<R> {

    private final FeatureSource<R> source;
    private final SlotSource.Cursor<R> cursor;
    private final SlotBatch batch;
    private R row;

    Read(RowFormat<R> format, Path file) {
      source = new FeatureSource<>(format, TRANSFORM, LABEL, RowSplit.ALL, List.of(file), new BadLines(BadLines.Policy.SKIP, false));
      cursor = source.open();
      batch = SlotBatch.allocate(source.layout(), 1);
    }

    boolean next() {
      row = cursor.next();
      return source.parse(row, batch, 0);
    }

    String text() {
      return row instanceof NumberedLine json ? json.line().text() : row.toString();
    }

    void requireSame(Read<?> other, int row) {
      if (!Arrays.equals(batch.ids(), other.batch.ids()) || !Arrays.equals(batch.values(), other.batch.values())
          || !Arrays.equals(batch.dense(), other.batch.dense()) || !Arrays.equals(batch.labels(), other.batch.labels())) {
        throw new AssertionError(source.name() + " and " + other.source.name() + " differ in row " + row);
      }
    }

    void close() {
      assertThat(cursor.next()).isNull();
      cursor.close();
    }
  }

  private void write() throws IOException {
    Random random = new Random(3);
    try (BufferedWriter csv = Files.newBufferedWriter(dir.resolve("rows.csv"));
        BufferedWriter tsv = Files.newBufferedWriter(dir.resolve("rows.tsv"));
        BufferedWriter json = Files.newBufferedWriter(dir.resolve("rows.json"))) {
      csv.write(String.join(",", COLUMNS) + "\n");
      tsv.write(String.join("\t", COLUMNS) + "\n");
      for (int i = 0; i < ROWS; i++) {
        List<String> row = new ArrayList<>();
        COLUMNS.forEach(column -> row.add(value(column, random)));
        csv.write(String.join(",", row.stream().map(text -> "\"" + text.replace("\"", "\"\"") + "\"").toList()) + "\n");
        tsv.write(String.join("\t", row) + "\n");
        json.write(json(row, random) + "\n");
      }
    }
  }

  static String value(String column, Random random) {
    if (random.nextInt(400) == 0) {
      return "?";
    }
    return switch (column) {
      case "n", "b" -> number(random);
      case "w" -> random.nextInt(9) == 0 ? "" : Integer.toString(random.nextInt());
      case "y" -> random.nextInt(200) == 0 ? "2" : random.nextBoolean() ? "1" : "0";
      case "t", "s" -> list(random, column.equals("t"));
      case "x" -> text(random) + " " + text(random) + " Words 2";
      default -> text(random);
    };
  }

  private static String number(Random random) {
    int kind = random.nextInt(8);
    return kind == 0 ? Double.toString(random.nextGaussian() * 1000) : kind == 1 ? Long.toString(random.nextInt())
        : kind == 2 ? " 7 " : NUMBERS[random.nextInt(NUMBERS.length)];
  }

  private static String text(Random random) {
    return random.nextInt(3) == 0 ? Integer.toString(random.nextInt(100)) : TEXTS[random.nextInt(TEXTS.length)];
  }

  private static String list(Random random, boolean weighted) {
    StringBuilder list = new StringBuilder();
    for (int i = random.nextInt(7); i > 0; i--) {
      list.append(text(random)).append(weighted && random.nextBoolean() ? ":" + random.nextInt(5) : "").append(i > 1 ? "|" : "");
    }
    return list.toString();
  }

  /** Writes a row as an object: numbers as text or as numbers, lists as text or as arrays, and missing values in three ways. */
  static String json(List<String> row, Random random) {
    StringBuilder object = new StringBuilder("{\"ignored\": {\"a\": [1]}");
    for (int i = 0; i < row.size(); i++) {
      String text = row.get(i);
      String column = COLUMNS.get(i);
      String value = quoted(text);
      int choice = random.nextInt(3);
      if (text.isEmpty() && choice > 0 && !column.equals("y")) {
        if (choice == 1) {
          continue;
        }
        value = "null";
      } else if (choice == 0 && text.matches("-?(0|[1-9][0-9]*)") && !text.equals("-0")
          || choice == 0 && (column.equals("n") || column.equals("b")) && text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE]-?[0-9]+)?")) {
        value = text;
      } else if (choice == 0 && (column.equals("t") || column.equals("s"))) {
        value = "[null" + Arrays.stream(text.split("\\|")).map(each -> ", " + quoted(each)).collect(Collectors.joining()) + "]";
      }
      object.append(", ").append(quoted(column)).append(": ").append(value);
    }
    return object.append("}").toString();
  }

  private static String quoted(String text) {
    return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + "\"";
  }
}
