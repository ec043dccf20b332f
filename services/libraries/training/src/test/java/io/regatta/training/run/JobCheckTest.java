package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobCheckTest {

  @ParameterizedTest
  @CsvSource({"sgd, true", "naive, true", "auto, true", "adam, false", "momentum, false"})
  void geoTrainsWithSgdByWhateverName(String kind, boolean taken) {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "geo").put("mode", "geo")
        .put("optimizer", new JsonObject().put("kind", kind)));
    if (taken) {
      assertThatCode(() -> JobCheck.distributed(job, worker -> {})).doesNotThrowAnyException();
    } else {
      assertThatThrownBy(() -> JobCheck.distributed(job, worker -> {})).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("geo mode trains with SGD only, but optimizer.kind is " + kind);
    }
  }

  @Test
  void aTableOfAlgorithmsIsThereAndCanBeCarriedOut(@TempDir Path dir) throws Exception {
    Path table = dir.resolve("algorithms.txt");
    JobConfig job = JobConfig.of(new JsonObject().put("job", "tables").put("mode", "collective")
        .put("collective", new JsonObject().put("algorithms", table.toString())));
    assertThatThrownBy(() -> JobCheck.distributed(job, worker -> {})).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("collective.algorithms is " + table).hasMessageContaining("does not exist");
    Files.writeString(table, "all-reduce * * * tree 65536");
    assertThatThrownBy(() -> JobCheck.distributed(job, worker -> {})).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("collective.algorithms is " + table).hasMessageContaining("no all-reduce by tree");
    Files.writeString(table, "# measured here\nall-reduce * 2 * halving-doubling 65536\n");
    assertThatCode(() -> JobCheck.distributed(job, worker -> {})).doesNotThrowAnyException();
    assertThat(AlgorithmTable.of(job).text()).startsWith("all-reduce * 2 * halving-doubling 65536\n")
        .endsWith(Choices.defaults().text());
  }
}
