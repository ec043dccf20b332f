package io.regatta.fleet.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PaddlePaddle's {@code a_sync_configs} in a job file. */
class AsyncConfigsTest {

  @TempDir
  Path dir;

  private JobConfig job(String keys) throws IOException {
    Path file = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.program.FitALine\n" + keys);
    return JobFile.load(file, Map.of(), List.of(), List.of(), List.of(), new JsonObject());
  }

  @Test
  void the_device_of_heter_workers_is_the_jobs() throws IOException {
    assertThat(job("a_sync_configs: {heter_worker_device: gpu}").heter().device()).isEqualTo("gpu:0");
    assertThat(job("a_sync_configs: {heter_worker_device_guard: CPU}\nheter: {workers: 2}").heter())
        .satisfies(heter -> assertThat(heter.device() + " " + heter.workers()).isEqualTo("cpu 2"));
    assertThat(job("mode: geo\na_sync_configs: {k_steps: 7}")).isEqualTo(job("mode: geo\nk_steps: "
        + "7")).isNotEqualTo(job("mode: geo"));
  }

  @Test
  void what_it_cannot_mean_is_refused() {
    assertThatThrownBy(() -> job("a_sync_configs: {send_queue_size: 16}")).isInstanceOf(InvalidInput.class)
        .hasMessage("a_sync_configs.send_queue_size is no key here; of that section, k_steps, heter_worker_device and "
            + "heter_worker_device_guard are understood");
    assertThatThrownBy(() -> job("a_sync_configs: {heter_worker_device: xpu}")).isInstanceOf(InvalidInput.class)
        .hasMessage("a_sync_configs.heter_worker_device must be cpu or gpu, but is \"xpu\"");
    assertThatThrownBy(() -> job("a_sync_configs: {heter_worker_device: gpu}\nheter: {device: "
        + "cpu}")).isInstanceOf(InvalidInput.class)
        .hasMessage("a_sync_configs.heter_worker_device says device: gpu:0, but the job says device: cpu; leave one "
        + "of them out");
  }
}
