package io.regatta.data.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.Timeline;
import io.regatta.data.file.DataFiles;
import io.regatta.data.generate.GeneratedText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextSourcesTest {

  @TempDir
  Path dir;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(dir.resolve(name), text);
  }

  private static <R> List<SlotBatch> rows(SlotSource<R> source) {
    return rows(source, 0);
  }

  private static <R> List<SlotBatch> rows(SlotSource<R> source, int pass) {
    List<SlotBatch> rows = new ArrayList<>();
    try (SlotSource.Cursor<R> cursor = source.open(DataCursor.startOf(pass))) {
      for (R record = cursor.next(); record != null; record = cursor.next()) {
        SlotBatch row = SlotBatch.allocate(source.layout(), 1);
        assertThat(source.parse(record, row, 0)).isTrue();
        rows.add(row);
      }
    }
    return rows;
  }

  private static long[] ids(List<SlotBatch> rows) {
    return rows.stream().flatMapToLong(row -> Arrays.stream(row.ids())).toArray();
  }

  @Test
  void theDictionaryCountsAsImikolovDoes() throws IOException {
    List<Long> told = new ArrayList<>();
    Dictionary d = Dictionary.of(List.of(file("a", "b a b\n\n c  b\n"), file("b", "a x" + " ".repeat(1_000_000) + "\n")), 2, 2,
        (bytes, all) -> told.addAll(List.of(bytes, all)));
    assertThat(told).as("without the empty line, then all").containsExactly(1_000_016L, 1_000_017L, 1_000_017L, 1_000_017L);

    assertThat(IntStream.range(0, d.size()).mapToObj(i -> d.word(i) + " " + d.count(i)))
        .containsExactly("<e> 3", "<s> 3", "b 3", "a 2", "<unk> 2");
    assertThat(d.number("b")).isEqualTo(2);
    assertThat(d.number("x")).isEqualTo(d.number("<unk>")).isEqualTo(4);

    d.write(dir.resolve("dictionary"));
    Dictionary read = Dictionary.read(dir.resolve("dictionary"));
    assertThat(IntStream.range(0, read.size()).mapToObj(i -> read.word(i) + " " + read.count(i)))
        .containsExactlyElementsOf(IntStream.range(0, d.size()).mapToObj(i -> d.word(i) + " " + d.count(i)).toList());
  }

  /** Blocks of lines that are counted side by side; against counts by arithmetic: of line i the words are i % 7, i % 11 and i % 13. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void theDictionaryDoesNotDependOnThreads(int threads) throws IOException {
    int lines = 7 * 11 * 13 * 200;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines; i++) {
      text.append("seven").append(i % 7).append(" eleven").append(i % 11).append("\tthirteen").append(i % 13).append('\n');
    }
    Dictionary d = Dictionary.of(List.of(file("long", text.toString())), 1, threads, (bytes, all) -> { });
    assertThat(d.size()).isEqualTo(7 + 11 + 13 + 3);
    for (String word : List.of("seven", "eleven", "thirteen")) {
      int of = word.equals("seven") ? 7 : word.equals("eleven") ? 11 : 13;
      for (int i = 0; i < of; i++) {
        assertThat(d.count(d.number(word + i))).as(word + i).isEqualTo(lines / of);
      }
    }
    assertThat(d.count(d.number("<s>"))).isEqualTo(lines);
    assertThat(d.count(d.number("<unk>"))).isZero();
  }

  @Test
  void aBrokenDictionaryIsNamedByLine() throws IOException {
    Path broken = file("broken", "a\t3\nb three\n");
    assertThatThrownBy(() -> Dictionary.read(broken)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("broken, line 2: expected a word, a tab and its count, found 'b three'");
    Path foreign = file("foreign", "a\t3\n");
    assertThatThrownBy(() -> Dictionary.read(foreign)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("<unk>").hasMessageContaining("regatta prepare dictionary");
  }

  @Test
  void everyWindowOfALineIsAnExample() throws IOException {
    Path text = file("text", "a b c\nb\na a\n");
    Dictionary d = Dictionary.of(List.of(text), 1);
    NgramSource source = new NgramSource(List.of(text), d, 3);

    List<String> windows = rows(source).stream()
        .map(row -> d.word((int) row.ids()[0]) + " " + d.word((int) row.ids()[1]) + " > " + d.word((int) row.labels()[0]))
        .toList();
    assertThat(windows).containsExactly("<s> a > b", "a b > c", "b c > <e>", "<s> b > <e>", "<s> a > a", "a a > <e>");
    assertThat(source.size()).isEqualTo(windows.size());
    assertThat(new NgramSource(List.of(text), d, 5).size()).as("only the first line has five words").isEqualTo(1);
  }

  @Test
  void skipGramsAreNearWordsAndNegativesFollowTheirCounts() throws IOException {
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < 3000; i++) {
      words.append(i % 4 == 0 ? "rare common often common\n" : "common often common\n");
    }
    Path text = file("text", words.toString());
    Dictionary d = Dictionary.of(List.of(text), 1);
    SkipGramSource source = new SkipGramSource(List.of(text), d, new SkipGramSource.Draws(1, 4, 0, 3));
    List<SlotBatch> rows = rows(source);
    Map<String, Integer> pairs = new HashMap<>();
    Map<String, Integer> negatives = new HashMap<>();
    int n = d.size();
    for (SlotBatch row : rows) {
      pairs.merge(d.word((int) row.ids()[0]) + " " + d.word((int) row.ids()[1] - n), 1, Integer::sum);
      for (int k = 2; k < 6; k++) {
        assertThat(row.ids()[k]).isNotEqualTo(row.ids()[1]);
        negatives.merge(d.word((int) row.ids()[k] - n), 1, Integer::sum);
      }
    }
    assertThat(pairs).containsOnlyKeys("rare common", "common rare", "common often", "often common");
    assertThat(pairs.get("common often")).isEqualTo(6000);
    assertThat(pairs.get("rare common")).isEqualTo(750);
    double weights = Math.pow(6000, 0.75) + 3 * Math.pow(3000, 0.75) + Math.pow(750, 0.75);
    assertThat(negatives.get("<s>") / (4.0 * rows.size())).isCloseTo(Math.pow(3000, 0.75) / weights, within(0.01));
    assertThat(ids(rows(source))).as("the same pass").isEqualTo(ids(rows));
    assertThat(ids(rows(source, 1))).as("another pass draws anew").isNotEqualTo(ids(rows));
    SlotBatch first = SlotBatch.allocate(source.layout(), 1);
    try (SlotSource.Cursor<SkipGramSource.Pair> from = source.open(new DataCursor(0, -1, "", 0, 1000, 0, 0))) {
      source.parse(from.next(), first, 0);
    }
    assertThat(first.ids()).as("reading goes on behind 1000 pairs").isEqualTo(rows.get(1000).ids());
  }

  /** Read as by a {@code QueueDataset}: each thread its own files. */
  @Test
  void skipGramsOfAQueueAreDrawnAnewInEveryPass() throws IOException {
    Path text = file("text", "a b c d e f g h\n".repeat(20));
    SkipGramSource source = new SkipGramSource(List.of(text), Dictionary.of(List.of(text), 1),
        new SkipGramSource.Draws(3, 2, 0, 3));
    List<long[]> passes = new ArrayList<>();
    for (int pass : new int[] {0, 1, 0}) {
      try (SlotLoader loader = SlotLoader.openFiles(source, LoaderOptions.inOrder(100), pass, Timeline.NONE)) {
        passes.add(loader.next().ids());
      }
    }
    assertThat(passes.get(1)).isNotEqualTo(passes.get(0));
    assertThat(passes.get(2)).isEqualTo(passes.get(0));
  }

  @Test
  void frequentWordsAreThinnedOut() throws IOException {
    Path text = file("text", "a a a a a a a a b\n".repeat(1000));
    Dictionary d = Dictionary.of(List.of(text), 1);
    int all = rows(new SkipGramSource(List.of(text), d, new SkipGramSource.Draws(2, 1, 0, 3))).size();
    int thinned = rows(new SkipGramSource(List.of(text), d, new SkipGramSource.Draws(2, 1, 0.01, 3))).size();
    assertThat(thinned).isLessThan(all / 3);
  }

  @Test
  void generatedTextIsMadeOnceAndTellsTheBestPerplexity() throws IOException {
    GeneratedText.Size size = new GeneratedText.Size(1, 5000, 3000, 2);
    Path made = dir.resolve("made");
    GeneratedText text = GeneratedText.ensure(made, size);
    assertThat(GeneratedText.ensure(made, size)).isEqualTo(text);
    assertThat(DataFiles.parts(made, "train.txt")).hasSize(2);
    List<Path> test = DataFiles.parts(made, "test.txt");
    assertThat(test).hasSize(1);

    // the entropy of the chain: 0.05 for the end, else one of eight
    double sum = IntStream.rangeClosed(1, 8).mapToDouble(k -> 1.0 / k).sum();
    double entropy = -0.05 * Math.log(0.05) - IntStream.rangeClosed(1, 8).mapToDouble(k -> 1 / (k * sum))
        .map(p -> 0.95 * p * Math.log(0.95 * p)).sum();
    assertThat(Math.log(text.bestPerplexity())).isCloseTo(entropy, within(0.02));

    Files.delete(made.resolve("text.json"));
    Files.createFile(made.resolve("text.unfinished")); // as by one who was killed
    assertThat(GeneratedText.ensure(made, size)).isEqualTo(text);
    assertThat(made.resolve("text.unfinished")).doesNotExist();

    GeneratedText.Size larger = new GeneratedText.Size(3, 6000, 3000, 2);
    assertThatThrownBy(() -> GeneratedText.ensure(made, larger)).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
        "5000 training lines in 2 files and 3000 test lines, seed 1", "requested is one of 6000 training lines", "not replaced");
    assertThat(GeneratedText.ensure(made, size)).as("it is still there").isEqualTo(text);

    file("other", "x");
    assertThatThrownBy(() -> GeneratedText.ensure(dir, size)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("which holds");
  }
}
