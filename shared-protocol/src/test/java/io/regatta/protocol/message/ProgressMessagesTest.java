package io.regatta.protocol.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressMessagesTest {

  private static TrainerProgress sent(TrainerProgress progress) {
    return ProgressMessages.read(ProgressMessages.of(progress));
  }

  /** None of them is another one: a trainer may have made a step without an example, or not count them. */
  @ParameterizedTest
  @ValueSource(longs = {TrainerProgress.UNKNOWN, 0, 1, 1L << 40})
  void keeps_the_number_of_examples_and_whether_it_is_known(long examples) {
    TrainerProgress progress = new TrainerProgress(3, 2, 4, examples,
        List.of(new Replica(3, List.of(new Part(1, 0, 2, 5, 2))), new Replica(1, List.of())));
    assertThat(sent(progress)).isEqualTo(progress);
  }

  @Test
  void keeps_that_there_is_no_progress() {
    assertThat(sent(TrainerProgress.NONE)).isEqualTo(TrainerProgress.NONE);
  }

  @Test
  void refuses_a_negative_number_of_examples() {
    var message = io.regatta.protocol.tensor.TrainerProgress.newBuilder().setExamples(-1).build();
    assertThatThrownBy(() -> ProgressMessages.read(message)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("-1 examples");
  }
}
