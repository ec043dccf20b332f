package io.regatta.fleet.launch.plan;

import static io.regatta.fleet.launch.Words.COLLECTIVE;
import static io.regatta.fleet.launch.Words.JOB;
import static io.regatta.fleet.launch.Words.ofWorkers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.ReservedPorts;
import io.regatta.fleet.launch.Words;
import io.regatta.node.testing.FreePorts;
import io.regatta.training.config.GpuAssignment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The assignment of GPUs to the processes of a launch. */
class LaunchedGpusTest {

  private static final String CUDA = "CUDA_VISIBLE_DEVICES";
  /** The variable that holds a trainer to its GPU. */
  private static final String HELD = "REGATTA_TRAINER_GPUS";

  private final ReservedPorts ports = new ReservedPorts();

  @AfterEach
  void release() {
    ports.close();
  }

  @Test
  void each_trainer_sees_its_own_of_those_that_are_named_as_the_only_one() {
    for (String[] mode : new String[][] {{"nproc_per_node=3", "gpus=1,3"}, {"server_num=1", "worker_num=3", "gpus=1,3"},
        {"nproc_per_node=3", "gpus=1,3", "master=127.0.0.1:" + FreePorts.one()}}) {
      LaunchPlan plan = Words.plan(ports, JOB, 4, mode);
      assertThat(ofWorkers(plan, CUDA)).containsExactly("1", "3", "1");
      assertThat(ofWorkers(plan, "XPU_VISIBLE_DEVICES")).containsExactly("1", "3", "1");
      assertThat(ofWorkers(plan, "FLAGS_selected_gpus")).containsOnly("0");
      assertThat(ofWorkers(plan, HELD)).containsOnly("0");
    }
  }

  @Test
  void a_collective_job_has_a_trainer_for_each_gpu_that_is_there() {
    LaunchPlan all = Words.plan(ports, COLLECTIVE, 2);
    assertThat(ofWorkers(all, CUDA)).containsExactly("0", "1");
    assertThat(ofWorkers(all, HELD)).as("its engine may have no natives for GPUs").containsOnlyNulls();
    assertThat(ofWorkers(Words.plan(ports, COLLECTIVE, 2, "nproc_per_node=3"), CUDA)).containsExactly("0", "1", "0");
    assertThat(ofWorkers(Words.plan(ports, COLLECTIVE, 0), CUDA)).containsExactly((String) null);
    assertThat(ofWorkers(Words.plan(ports, JOB, 2, "server_num=1", "worker_num=2"), CUDA)).as("with servers the job's device decides")
        .containsOnlyNulls();
  }

  @Test
  void one_that_cannot_be_used_is_named() {
    GpuAssignment asked = new GpuAssignment(List.of(1, 5));
    assertThatThrownBy(() -> LaunchedGpus.here(asked, null, 2)).isInstanceOf(InvalidInput.class)
        .hasMessage("--gpus names 5, but this machine has 2 GPUs, from 0 to 1");
    assertThatThrownBy(() -> LaunchedGpus.here(asked, "1,2", 8)).isInstanceOf(InvalidInput.class)
        .hasMessage("--gpus names 5, but CUDA_VISIBLE_DEVICES gives this process 1,2");
    assertThatThrownBy(() -> LaunchedGpus.here(asked, "-1", 8)).isInstanceOf(InvalidInput.class).hasMessageContaining("none");
    assertThat(LaunchedGpus.here(asked, null, 0).visible()).as("what is not listed may be there").isEmpty();
    assertThat(LaunchedGpus.here(GpuAssignment.NONE, "GPU-8932, 3,-1,2", 8).visible()).containsExactly("GPU-8932", "3");
  }
}
