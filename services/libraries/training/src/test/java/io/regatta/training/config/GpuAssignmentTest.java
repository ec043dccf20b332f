package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GpuAssignmentTest {

  private final GpuAssignment gpus = new GpuAssignment(List.of(2, 5));

  @Test
  void trainersTakeTurns() {
    assertThat(gpus.of(0)).hasValue(2);
    assertThat(gpus.of(1)).hasValue(5);
    assertThat(gpus.of(2)).hasValue(2);
    assertThat(GpuAssignment.NONE.of(3)).isEmpty();
    assertThat(gpus.environment(1)).isEqualTo(Map.of("CUDA_VISIBLE_DEVICES", "5"));
    assertThat(GpuAssignment.NONE.environment(1)).isEmpty();
  }

  @Test
  void ranksOfOneHostAreCountedThere() {
    List<String> dealtInTurn = List.of("a", "b", "a", "b");
    assertThat(IntStream.range(0, 4).map(rank -> GpuAssignment.localRank(dealtInTurn, rank))).containsExactly(0, 0, 1, 1);
    assertThat(IntStream.range(0, 3).map(rank -> GpuAssignment.localRank(List.of("", "", ""), rank))).containsExactly(0, 1, 2);
  }

  @Test
  void inCollectiveModeAnAssignedGpuIsMeantToBeUsed() {
    assertThat(gpus.device("auto", Mode.COLLECTIVE, 1)).isEqualTo("gpu:5");
    assertThat(gpus.device("gpu:0", Mode.COLLECTIVE, 0)).isEqualTo("gpu:2");
    assertThat(gpus.device("cpu", Mode.COLLECTIVE, 0)).isEqualTo("cpu");
  }

  @Test
  void withServersTheJobDecides() {
    assertThat(gpus.device("auto", Mode.SYNC, 1)).isEqualTo("auto:5");
    assertThat(gpus.device("gpu:0", Mode.ASYNC, 1)).isEqualTo("gpu:5");
    assertThat(gpus.device("cpu", Mode.GEO, 1)).isEqualTo("cpu");
  }

  @Test
  void withoutAnAssignmentTheJobsDeviceStands() {
    for (String device : List.of("auto", "cpu", "gpu:3")) {
      assertThat(GpuAssignment.NONE.device(device, Mode.COLLECTIVE, 1)).isEqualTo(device);
    }
  }

  @Test
  void whatCannotBeMeantIsRefused() {
    assertThatThrownBy(() -> gpus.device("gpu:1", Mode.COLLECTIVE, 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("gpus (2,5)").hasMessageContaining("as gpu:0");
    assertThatThrownBy(() -> new GpuAssignment(List.of(1, 1))).isInstanceOf(InvalidInput.class).hasMessageContaining("not 1,1");
    assertThatThrownBy(() -> new GpuAssignment(List.of(-1))).isInstanceOf(InvalidInput.class);
  }
}
