package io.regatta.data.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.SlotBatch;
import io.regatta.data.format.LibSvmFormat;
import io.regatta.data.generate.GeneratedTable.Kind;
import io.regatta.data.uci.Census;
import io.regatta.data.uci.Housing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Generated data sets have the shape of the public ones: their own readers, which refuse every bad line, are the judges. */
class GeneratedTableTest {

  @TempDir
  Path dir;

  private static BadLines strict() {
    return new BadLines(BadLines.Policy.FAIL);
  }

  @Test
  void housingHasTheRowsOfThePublicData() {
    GeneratedTable made = GeneratedTable.ensure(dir, Kind.HOUSING, 1);
    Housing housing = Housing.read(dir.resolve("housing.data"), strict());
    assertThat(housing.train().size()).isEqualTo(404);
    assertThat(housing.test().size()).isEqualTo(102);
    assertThat(made.best()).as("variance of the noise").isCloseTo(4.7 * 4.7, within(5.0));
  }

  @Test
  void censusHasTheRowsOfThePublicData() {
    GeneratedTable made = GeneratedTable.ensure(dir, Kind.CENSUS, 1);
    Census census = Census.read(dir.resolve("adult.data"), dir.resolve("adult.test"), strict());
    assertThat(census.train().size()).isEqualTo(32_561);
    assertThat(census.test().size()).isEqualTo(16_281);
    assertThat(share(census.train().table())).isBetween(0.1, 0.4);
    assertThat(made.best()).isBetween(0.85, 0.98);
  }

  @Test
  void a9aHasTheFeaturesOfThePublicData() throws IOException {
    GeneratedTable made = GeneratedTable.ensure(dir, Kind.A9A, 1);
    LibSvmFormat format = new LibSvmFormat(128);
    SlotBatch batch = SlotBatch.allocate(format.layout(), 1);
    int rows = 0;
    double positive = 0;
    try (LineCursor lines = new LineCursor(List.of(dir.resolve("a9a")))) {
      for (Line line = lines.next(); line != null; line = lines.next()) {
        assertThat(format.parse(line, batch, 0, strict())).isTrue();
        rows++;
        positive += batch.labels()[0];
      }
    }
    assertThat(rows).isEqualTo(32_561);
    assertThat(positive / rows).isBetween(0.1, 0.4);
    assertThat(Files.readAllLines(dir.resolve("a9a.t"))).hasSize(16_281).allMatch(line -> line.split(" ").length == 15);
    assertThat(made.best()).isBetween(0.85, 0.98);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void isAFunctionOfItsSeed_andNeverReplaced(Kind kind) throws IOException {
    Path first = dir.resolve("first");
    GeneratedTable made = GeneratedTable.ensure(first, kind, 1);
    assertThat(GeneratedTable.ensure(dir.resolve("again"), kind, 1)).isEqualTo(made);
    assertThat(GeneratedTable.ensure(dir.resolve("other"), kind, 2).best()).isNotEqualTo(made.best());
    String name = kind.files().split(" ")[0];
    assertThat(dir.resolve("again").resolve(name)).hasSameBinaryContentAs(first.resolve(name));
    assertThat(Files.mismatch(dir.resolve("other").resolve(name), first.resolve(name))).isNotEqualTo(-1);
    assertThatThrownBy(() -> GeneratedTable.ensure(first, kind, 2)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("seed 1").hasMessageContaining("seed 2").hasMessageContaining("not replaced");
    Files.delete(first.resolve(GeneratedTable.NAME));
    assertThatThrownBy(() -> GeneratedTable.ensure(first, kind, 1)).as("files of somebody else")
        .isInstanceOf(InvalidInput.class).hasMessageContaining("other files");
  }

  private static double share(SlotBatch table) {
    double positive = 0;
    for (int row = 0; row < table.rows(); row++) {
      positive += table.labels()[row];
    }
    return positive / table.rows();
  }
}
