package io.regatta.data.feature;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * The same random rows, malformed ones among them, from a training file and through each way of a request: the same
 * bits. {@code -Dregatta.equality.rows=100000} reads more.
 */
class RequestEqualityTest {

  private static final List<String> COLUMNS = FeatureEqualityTest.COLUMNS;
  private static final List<String> READ = FeatureEqualityTest.TRANSFORM.columns();

  @TempDir
  Path dir;

  /** A way of one row into a batch of one; throws InvalidInput if the row is malformed. */
  private interface Way {
    void read(List<String> row, SlotBatch into);
  }

  private static String csv(List<String> row) {
    return row.stream().map(text -> '"' + text.replace("\"", "\"\"") + '"').collect(Collectors.joining(","));
  }

  @Test
  void requestsAreWhatTrainingReads() throws IOException {
    Random random = new Random(5);
    List<List<String>> rows = new ArrayList<>();
    Path file = dir.resolve("rows.csv");
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      out.write(String.join(",", COLUMNS) + "\n");
      for (int i = 0; i < FeatureEqualityTest.ROWS; i++) {
        List<String> row = new ArrayList<>(COLUMNS.stream().map(column -> FeatureEqualityTest.value(column, random))
            .toList());
        row.set(COLUMNS.indexOf("y"), random.nextBoolean() ? "1" : "0"); // malformed labels have tests of their own
        rows.add(row);
        out.write(csv(row) + "\n");
      }
    }
    LabelColumn label = new LabelColumn("y", "", false);
    RequestRows requests = new RequestRows(FeatureEqualityTest.FEATURES, FeatureEqualityTest.TRANSFORM, label, COLUMNS);
    List<Way> ways = ways(requests, random);
    Set<String> needed = new LinkedHashSet<>(READ);
    needed.add("y");
    FeatureSource<?> source = new FeatureSource<>(RowFormats.of("csv", List.of(), needed, Set.of()),
        FeatureEqualityTest.TRANSFORM, label,
        RowSplit.ALL, List.of(file), new BadLines(BadLines.Policy.SKIP, false));
    assertThat(compare(source, rows, ways)).isBetween(rows.size() / 2, rows.size() - 1);
  }

  private static List<Way> ways(RequestRows requests, Random random) {
    LineFormat objects = requests.objects();
    RequestRows.Table table = requests.csv(true);
    RequestRows.Table plain = requests.csv(false);
    RequestRows.Table tabs = requests.tsv(true);
    String header = String.join(",", COLUMNS) + "\n";
    return List.of(
        (row, into) -> {
          byte[] json = FeatureEqualityTest.json(row, random).getBytes(StandardCharsets.UTF_8);
          objects.parse(new Line("request", 1, json, 0, json.length), into, 0, BadLines.refused());
        },
        (row, into) -> table.read((header + csv(row) + "\n").getBytes(StandardCharsets.UTF_8), into, 0),
        (row, into) -> plain.read(csv(row).getBytes(StandardCharsets.UTF_8), into, 0),
        (row, into) -> tabs.read((header.replace(',', '\t') + String.join("\t", row)).getBytes(StandardCharsets.UTF_8),
            into, 0),
        (row, into) -> requests.read(input -> READ.forEach(column -> {
          byte[] text = row.get(COLUMNS.indexOf(column)).getBytes(StandardCharsets.UTF_8);
          input.text(READ.indexOf(column), text, 0, text.length);
        }), 1, into, 0));
  }

  /** Returns the number of good rows. */
  private static <R> int compare(FeatureSource<R> source, List<List<String>> rows, List<Way> ways) {
    SlotBatch trained = SlotBatch.allocate(source.layout(), 1);
    SlotBatch asked = SlotBatch.allocate(source.layout(), 1);
    int good = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (List<String> row : rows) {
        boolean first = source.parse(cursor.next(), trained, 0);
        good += first ? 1 : 0;
        for (int way = 0; way < ways.size(); way++) {
          if (isGood(ways.get(way), row, asked) != first || first && !isSame(trained, asked)) {
            throw new AssertionError("way " + way + " of the row " + row + (first ? "" : ", which is bad in training"));
          }
        }
      }
    }
    return good;
  }

  private static boolean isGood(Way way, List<String> row, SlotBatch into) {
    try {
      way.read(row, into);
      return true;
    } catch (InvalidInput e) {
      return false;
    }
  }

  private static boolean isSame(SlotBatch one, SlotBatch other) {
    return Arrays.equals(one.dense(), other.dense()) && Arrays.equals(one.ids(), other.ids())
        && Arrays.equals(one.values(), other.values());
  }
}
