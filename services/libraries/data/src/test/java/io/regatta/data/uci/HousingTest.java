package io.regatta.data.uci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.TableSource;
import io.regatta.data.testing.DataSets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HousingTest {

  @TempDir
  Path dir;

  @Test
  void realFileHas404TrainingRowsAndTheKnownMean() {
    Housing housing = Housing.read(DataSets.directory("boston_housing").resolve("housing.data"), fail());

    assertThat(housing.train().size()).isEqualTo(404);
    assertThat(housing.test().size()).isEqualTo(102);
    double sum = 0;
    double[] sums = new double[13];
    for (TableSource part : List.of(housing.train(), housing.test())) {
      for (int r = 0; r < part.size(); r++) {
        sum += part.table().labels()[r];
        for (int c = 0; c < 13; c++) {
          sums[c] += part.table().dense()[r * 13 + c];
        }
      }
    }
    assertThat(sum / 506).isCloseTo(22.5328, within(1e-4));
    assertThat(sums).containsExactly(new double[13], within(1e-3));
  }

  @Test
  void headerLineMakesNoDifference() throws Exception {
    List<String> lines = Files.readAllLines(DataSets.directory("boston_housing").resolve("housing.data"));
    Path bare = Files.write(dir.resolve("bare"), lines.subList(1, lines.size()));
    Path headed = Files.write(dir.resolve("headed"), lines);

    assertThat(Housing.read(bare, fail()).train().table()).usingRecursiveComparison()
        .isEqualTo(Housing.read(headed, fail()).train().table());
  }

  @Test
  void badLinesAreNamedOrSkipped() throws Exception {
    String good = "1 2 3 4 5 6 7 8 9 10 11 12 13 14\n";
    Path file = Files.writeString(dir.resolve("h"), good + "1 2 3\n" + good.replace("7", "seven") + good.replace("1 2", "0 1"));
    assertThatThrownBy(() -> Housing.read(file, fail())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("line 2, column 4: expected 14 columns").hasMessageContaining(file.toString());
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    assertThat(Housing.read(file, skip).train().size()).isEqualTo(1);
    assertThat(skip.skipped()).isEqualTo(2);
  }

  @Test
  void tooFewRowsAreNamedWithWhatIsNeeded() throws Exception {
    Path empty = Files.writeString(dir.resolve("empty"), "");
    assertThatThrownBy(() -> Housing.read(empty, fail())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no rows of data; at least 2 are needed");
    Path one = Files.writeString(dir.resolve("one"), "1 2 3 4 5 6 7 8 9 10 11 12 13 14\n");
    assertThatThrownBy(() -> Housing.read(one, fail())).hasMessageContaining("has 1 row of data; at least 2");
  }

  private static BadLines fail() {
    return new BadLines(BadLines.Policy.FAIL);
  }
}
