package io.regatta.data.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LineCursor;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.TextSource;
import io.regatta.data.format.CriteoFormat;
import io.regatta.data.generate.CriteoGenerator.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CriteoGeneratorTest {

  private static final int HASHED = 1 << 20;

  @TempDir
  Path dir;

  @ParameterizedTest
  @ValueSource(longs = {1, 2026})
  void bestAucIsInRangeAndLogisticRegressionIsWellBelow(long seed) {
    GeneratedCriteo made = CriteoGenerator.ensure(dir, new Size(seed, 120_000, 40_000, 2));
    assertThat(made.bestAuc()).isBetween(0.78, 0.82);
    assertThat(made.positiveRate()).isBetween(0.22, 0.28);

    double auc = logisticRegression(made.train(dir), made.test(dir));

    assertThat(auc).isBetween(0.65, made.bestAuc() - 0.02);
  }

  @Test
  void sameSeedGivesTheSameFilesAndAnotherSeedOthers() throws Exception {
    GeneratedCriteo made = CriteoGenerator.ensure(dir.resolve("a"), new Size(7, 25_000, 5_000, 2));
    GeneratedCriteo again = CriteoGenerator.ensure(dir.resolve("b"), new Size(7, 25_000, 5_000, 2));
    GeneratedCriteo other = CriteoGenerator.ensure(dir.resolve("c"), new Size(8, 25_000, 5_000, 2));

    List<String> test = Files.readAllLines(dir.resolve("a/test.tsv"));
    boolean[] labels = new boolean[test.size()];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = test.get(i).charAt(0) == '1';
    }
    assertThat(ExactAuc.of(CriteoGenerator.testProbabilities(made.size()), labels)).isEqualTo(made.bestAuc());
    assertThat(again).isEqualTo(made);
    assertThat(other.files()).doesNotContainAnyElementsOf(made.files());
    assertThat(LineCursor.count(made.train(dir.resolve("a")))).isEqualTo(25_000);
    assertThat(names(dir.resolve("a"))).containsExactly("criteo.json", "test.tsv", "train-000.tsv", "train-001.tsv");
  }

  @Test
  void filesOfSomebodyElseAreLeftAlone() throws Exception {
    Path mine = Files.writeString(dir.resolve("train-000.tsv"), "1\t2\n");
    assertThatThrownBy(() -> CriteoGenerator.ensure(dir, new Size(7, 3_000, 1_000, 1))).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll(dir.toString(), "which holds train-000.tsv", "--data (data.dir)");
    assertThat(mine).hasContent("1\t2\n");
    assertThat(dir).isDirectoryContaining(mine::equals);
  }

  @Test
  void completeDataIsKeptAndWhatIsMissingMadeAgain() throws Exception {
    Size size = new Size(7, 3_000, 1_000, 1);
    GeneratedCriteo made = CriteoGenerator.ensure(dir, size);
    FileTime old = FileTime.from(Instant.EPOCH);
    Path test = dir.resolve("test.tsv");
    Files.setLastModifiedTime(test, old);
    assertThat(CriteoGenerator.ensure(dir, size)).isEqualTo(made);
    assertThat(Files.getLastModifiedTime(test)).isEqualTo(old);

    byte[] text = Files.readAllBytes(test);
    Files.delete(test);
    assertThat(CriteoGenerator.ensure(dir, size)).isEqualTo(made);
    assertThat(Files.readAllBytes(test)).isEqualTo(text);

    stopInTheMiddle(made);
    assertThat(GeneratedCriteo.in(dir)).isNull();
    assertThat(CriteoGenerator.ensure(dir, size)).isEqualTo(made);
  }

  @Test
  void whatSomebodyHasChangedIsNotReplaced() throws Exception {
    Size size = new Size(7, 3_000, 1_000, 1);
    GeneratedCriteo made = CriteoGenerator.ensure(dir, size);
    Path test = dir.resolve("test.tsv");
    byte[] text = Files.readAllBytes(test);
    text[0] ^= 1;
    Files.write(test, text);
    assertThatThrownBy(() -> CriteoGenerator.ensure(dir, size)).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll(test.toString(), "has been changed since it was generated", "delete the file");
    assertThat(Files.readAllBytes(test)).isEqualTo(text);

    assertThat(CriteoGenerator.replace(dir, size, rows -> {})).isEqualTo(made);
    text[0] ^= 1;
    assertThat(Files.readAllBytes(test)).isEqualTo(text);
  }

  @Test
  void dataOfAnotherSizeAreReplacedWhereThatIsAskedForOnly() throws Exception {
    Size size = new Size(7, 3_000, 1_000, 3);
    GeneratedCriteo made = CriteoGenerator.ensure(dir, size);
    for (Size other : List.of(new Size(7, 4_000, 1_000, 3), new Size(8, 3_000, 1_000, 3))) {
      assertThatThrownBy(() -> CriteoGenerator.ensure(dir, other)).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
          dir.toString(), "3000 training rows in 3 files and 1000 test rows, seed 7", "requested are " + other.words(), "not replaced");
      assertThat(CriteoGenerator.ensure(dir, size)).isEqualTo(made);
    }
    stopInTheMiddle(made);
    Size fewer = new Size(7, 1_000, 500, 1);
    assertThatThrownBy(() -> CriteoGenerator.ensure(dir, fewer)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the beginning of generated data of 3000 training rows");
    assertThat(CriteoGenerator.ensure(dir, size)).isEqualTo(made);

    CriteoGenerator.replace(dir, fewer, rows -> {});
    assertThat(GeneratedCriteo.in(dir).size()).isEqualTo(fewer);
    assertThat(names(dir)).containsExactly("criteo.json", "test.tsv", "train-000.tsv");
    Files.writeString(dir.resolve(GeneratedCriteo.NAME), "{");
    assertThatThrownBy(() -> CriteoGenerator.ensure(dir, fewer)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("cannot be read");
  }

  /** Files are written side by side: the mark lists those up to the first that is not whole, the disk has later ones. */
  @Test
  void noFileOfWhatIsReplacedStaysWhicheverTheMarkLists() throws Exception {
    GeneratedCriteo made = CriteoGenerator.ensure(dir, new Size(7, 2_000, 500, 5));
    Files.delete(dir.resolve("train-000.tsv"));
    Files.delete(dir.resolve(GeneratedCriteo.NAME));
    new UnfinishedCriteo(made.version(), made.size(), List.of()).write(dir);
    Path mine = Files.writeString(dir.resolve("train-notes.txt"), "mine");
    Size other = new Size(8, 1_000, 500, 2);
    CriteoGenerator.replace(dir, other, rows -> {});
    assertThat(names(dir)).containsExactly("criteo.json", "test.tsv", "train-000.tsv", "train-001.tsv", "train-notes.txt");
    assertThat(mine).hasContent("mine");
  }

  /** A directory in a file's place cannot be deleted while something is in it: replacing ends there, as if it was killed. */
  @Test
  void whoeverIsKilledWhileReplacingLeavesTheBeginningOfTheOldData() throws Exception {
    Size size = new Size(7, 2_000, 500, 3);
    GeneratedCriteo made = CriteoGenerator.ensure(dir, size);
    Path inTheWay = Files.createDirectories(dir.resolve("train-777.tsv/x"));
    Size other = new Size(8, 1_000, 500, 1);
    assertThatThrownBy(() -> CriteoGenerator.replace(dir, other, rows -> {})).isInstanceOf(InvalidInput.class);
    assertThat(CriteoGenerator.isBegun(dir)).isTrue();
    assertThatThrownBy(() -> CriteoGenerator.ensure(dir, other)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the beginning of generated data of 2000 training rows in 3 files");
    Files.delete(inTheWay);
    CriteoGenerator.replace(dir, other, rows -> {});
    assertThat(names(dir)).containsExactly("criteo.json", "test.tsv", "train-000.tsv");

    Files.writeString(dir.resolve(GeneratedCriteo.NAME), "{");
    CriteoGenerator.replace(dir, size, rows -> {});
    assertThat(GeneratedCriteo.in(dir)).isEqualTo(made);
  }

  /** An interrupt is noticed while files are being written, and when all are, and only their description is missing. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(60)
  void whatAnEarlierAttemptHasFinishedIsKept(boolean allWritten) throws Exception {
    Size size = new Size(7, 30_000, 1_000, 3);
    GeneratedCriteo whole = CriteoGenerator.ensure(dir.resolve("whole"), size);
    Path again = dir.resolve("again");
    List<Long> heard = new ArrayList<>();
    assertThatThrownBy(() -> CriteoGenerator.ensure(again, size, rows -> {
      heard.add(rows);
      if (!UnfinishedCriteo.in(again).files().isEmpty()) {
        while (allWritten && !Thread.currentThread().isInterrupted() && whole.files().stream().anyMatch(file -> !Files.exists(again.resolve(file.name())))) {
          Thread.onSpinWait();
        }
        Thread.currentThread().interrupt();
      }
    })).isInstanceOf(Cancelled.class).hasMessageContaining("start it again");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(GeneratedCriteo.in(again)).isNull();
    Path first = again.resolve(UnfinishedCriteo.in(again).files().get(0).name());
    assertThat(names(again)).contains("criteo.unfinished").allMatch(name -> !name.startsWith("."));
    FileTime old = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(first, old);

    assertThat(CriteoGenerator.ensure(again, size, heard::add)).isEqualTo(whole);
    assertThat(Files.getLastModifiedTime(first)).isEqualTo(old);
    assertThat(heard).last().isEqualTo(31_000L);
    assertThat(names(again)).isEqualTo(names(dir.resolve("whole")));
  }

  @Test
  void whatAKilledWriterHasLeftGoesWithTheNextStart() throws Exception {
    Size size = new Size(7, 2_000, 500, 2);
    CriteoGenerator.ensure(dir, size);
    List<String> whole = names(dir);
    Files.createFile(dir.resolve(".train-001.tsv." + UUID.randomUUID() + ".unfinished"));
    CriteoGenerator.ensure(dir, size);
    assertThat(names(dir)).isEqualTo(whole);
  }

  /** As one leaves the data who is killed before the description is there. */
  private void stopInTheMiddle(GeneratedCriteo made) throws IOException {
    new UnfinishedCriteo(made.version(), made.size(), made.files()).write(dir);
    Files.delete(dir.resolve(GeneratedCriteo.NAME));
  }

  /** Test AUC of logistic regression on hashed one-hot and dense features: three epochs of SGD, rate falling to 0. */
  private static double logisticRegression(List<Path> train, Path test) {
    double[] weights = new double[HASHED + 14];
    int steps = 3 * (int) LineCursor.count(train);
    int step = 0;
    for (int epoch = 0; epoch < 3; epoch++) {
      try (SlotLoader loader = SlotLoader.open(source(train), LoaderOptions.inOrder(1000).shuffled(200_000, 3), epoch)) {
        while (loader.hasNext()) {
          SlotBatch batch = loader.next();
          for (int row = 0; row < batch.rows(); row++, step++) {
            double error = batch.labels()[row] - 1 / (1 + Math.exp(-score(weights, batch, row)));
            update(weights, batch, row, 0.02 * (1 - (double) step / steps) * error);
          }
        }
      }
    }
    return auc(weights, test);
  }

  private static double auc(double[] weights, Path test) {
    int rows = (int) LineCursor.count(List.of(test));
    double[] scores = new double[rows];
    boolean[] labels = new boolean[rows];
    int at = 0;
    try (SlotLoader loader = SlotLoader.open(source(List.of(test)), LoaderOptions.inOrder(1000), 0)) {
      while (loader.hasNext()) {
        SlotBatch batch = loader.next();
        for (int row = 0; row < batch.rows(); row++, at++) {
          scores[at] = score(weights, batch, row);
          labels[at] = batch.labels()[row] == 1f;
        }
      }
    }
    return ExactAuc.of(scores, labels);
  }

  private static double score(double[] weights, SlotBatch batch, int row) {
    double score = weights[HASHED + 13];
    for (int i = 0; i < 13; i++) {
      score += weights[HASHED + i] * batch.dense()[row * 13 + i];
    }
    for (int slot = 0; slot < 26; slot++) {
      score += weights[(int) batch.ids()[row * 26 + slot]];
    }
    return score;
  }

  private static void update(double[] weights, SlotBatch batch, int row, double by) {
    weights[HASHED + 13] += by;
    for (int i = 0; i < 13; i++) {
      weights[HASHED + i] += by * batch.dense()[row * 13 + i];
    }
    for (int slot = 0; slot < 26; slot++) {
      weights[(int) batch.ids()[row * 26 + slot]] += by;
    }
  }

  private static TextSource source(List<Path> files) {
    return new TextSource(new CriteoFormat(HASHED), files, new BadLines(BadLines.Policy.FAIL));
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
