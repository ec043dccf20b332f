package io.regatta.trainer.run;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.config.JobConfig;
import io.vertx.core.json.JsonObject;
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
}
