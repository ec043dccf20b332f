package io.regatta.data.uci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.TableSource;
import io.regatta.data.TextSource;
import io.regatta.data.testing.DataSets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CensusTest {

  private static final String ROW =
      "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, 40, United-States, ";

  @TempDir
  Path dir;

  @Test
  void realFilesHaveTheKnownCounts() {
    Path data = DataSets.directory("adult_census");
    Census census = Census.read(data.resolve("adult.data"), data.resolve("adult.test"), fail());

    assertThat(census.train().size()).isEqualTo(32561);
    assertThat(census.test().size()).isEqualTo(16281);
    assertThat(positives(census.train())).isEqualTo(7841);
    assertThat(positives(census.test())).isEqualTo(3846);
    List<CsvRecord> rows = Census.rows(data.resolve("adult.data"), fail());
    assertThat(rows.stream().mapToInt(row -> Integer.parseInt(row.getField(0))).average().orElseThrow())
        .isCloseTo(38.5816, within(1e-4));
    assertThat(rows.stream().filter(CensusTest::unknown).count()).isEqualTo(2399);
    assertThat(Census.rows(data.resolve("adult.test"), fail()).stream().filter(CensusTest::unknown).count())
        .isEqualTo(1221);
  }

  @Test
  void testFileFormIsReadLikeTheTrainingFile() throws Exception {
    Path train = Files.writeString(dir.resolve("train"), ROW + ">50K\n" + ROW.replace("?", "Sales") + "<=50K\n");
    Path test = Files.writeString(dir.resolve("test"), "|1x3 Cross validator\n" + ROW + ">50K.\n" + ROW + "<=50K.");
    Census census = Census.read(train, test, fail());

    assertThat(census.test().table().labels()).containsExactly(1f, 0f);
    int slots = CensusFeatures.LAYOUT.slots();
    int occupation = 3;
    long[] ids = census.train().table().ids();
    assertThat(census.test().table().ids()).startsWith(java.util.Arrays.copyOf(ids, slots));
    assertThat(ids[slots + occupation]).isNotEqualTo(ids[occupation]);
    assertThat(ids[slots]).isEqualTo(ids[0]);
  }

  /** As predict and serve read it. */
  @Test
  void aCommentIsNoExampleLineByLineEither() throws Exception {
    Path test = Files.writeString(dir.resolve("test"), "|1x3 Cross validator\n" + ROW + ">50K.\n");
    TextSource source = new TextSource(new CensusFormat(), List.of(test), fail());
    SlotBatch batch = SlotBatch.allocate(source.layout(), 1);
    try (SlotSource.Cursor<Line> lines = source.open()) {
      assertThat(source.parse(lines.next(), batch, 0)).isFalse();
      assertThat(source.parse(lines.next(), batch, 0)).isTrue();
    }
    assertThat(batch.labels()).containsExactly(1f);
  }

  @Test
  void badLinesAreNamedOrSkipped() throws Exception {
    Path good = Files.writeString(dir.resolve("good"), ROW + ">50K\n");
    Path bad = Files.writeString(dir.resolve("bad"),
        ROW + ">50K\n" + ROW.replace("77516", "many") + ">50K\n" + ROW + "rich\n" + "1, 2\n");
    assertThatThrownBy(() -> Census.read(bad, good, fail())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("bad, line 2, column 3 (fnlwgt): expected a whole number, found 'many'");
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    assertThat(Census.read(bad, good, skip).train().size()).isEqualTo(1);
    assertThat(skip.skipped()).isEqualTo(3);
    assertThatThrownBy(() -> Census.read(dir.resolve("none"), good, fail())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("none");
  }

  private static boolean unknown(CsvRecord row) {
    return row.getFields().stream().anyMatch(field -> field.strip().equals("?"));
  }

  private static long positives(TableSource source) {
    long count = 0;
    for (float label : source.table().labels()) {
      count += label == 1f ? 1 : 0;
    }
    return count;
  }

  @Test
  void anEmptyFileIsNamed() throws Exception {
    Path empty = Files.writeString(dir.resolve("empty"), "|1x3 Cross validator\n");
    assertThatThrownBy(() -> Census.read(empty, empty, fail())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(empty + " has no rows");
  }

  private static BadLines fail() {
    return new BadLines(BadLines.Policy.FAIL);
  }
}
