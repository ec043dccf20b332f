package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A missing GPU is reported in one line, in every mode, before anything is trained. */
class DeviceTest {

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      simulate JOB --set device=gpu:99                                         | 2 | device: gpu:99, but engine
      simulate JOB --set device=gpu:99 --set collective.min_trainers=1         | 2 | device: gpu:99, but engine
      simulate JOB --set device=gpu:99 --mode sync --servers 1                 | 2 | device: gpu:99, but engine
      simulate JOB --set device=gpu:99 --mode async --servers 1                | 2 | device: gpu:99, but engine
      simulate JOB --set device=gpu:99 --local                                 | 2 | device: gpu:99, but engine
      train JOB --set device=gpu:99 --local                                    | 2 | device: gpu:99, but engine
      train JOB --set device=gpu:99 --seeds 127.0.0.1:1 --ready-timeout 1      | 2 | device: gpu:99, but engine
      simulate JOB --gpus 99,98                                                | 2 | device: gpu:9
      simulate JOB --gpus 99 --local                                           | 2 | device: gpu:99, but engine
      simulate JOB --gpus 98,98                                                | 2 | gpus must be different numbers from 0 on, not 98,98
      simulate JOB --gpus one                                                  | 2 | gpus
      """)
  void one_that_is_not_there_is_named(String command, int status, String wanted) {
    List<String> args = new ArrayList<>(Arrays.asList(command.replace("JOB", Checkout.file("configs/lenet.yaml").toString()).split(" +")));
    args.addAll(List.of("--set", "data.dir=", "--set", "output=", "--set", "settings.train_images=64"));
    CommandLineRun run = CommandLineRun.regatta(args.toArray(String[]::new));
    assertThat(run.status()).as(run.err()).isEqualTo(status);
    assertThat(run.failure()).contains(wanted);
  }

  /** CUDA sees no GPU of such a number on any machine. */
  @Test
  void a_launched_trainer_does_not_train_on_the_cpu_instead_of_the_gpu_that_it_was_given(@TempDir Path dir) throws Exception {
    try (JavaProcess launch = JavaProcess.regatta(dir, Map.of("CUDA_VISIBLE_DEVICES", "99"), "launch", "--gpus", "99",
        Checkout.file("configs/lenet.yaml").toString(), "--set", "settings.train_images=64")) {
      assertThat(launch.status(JavaProcess.SECONDS)).as(launch.output()).isEqualTo(2);
      assertThat(launch.output().lines().filter(line -> line.contains("device: gpu:0, but engine"))).as("said once").hasSize(1);
      assertThat(dir.resolve("log")).as("logs of processes").doesNotExist();
    }
  }
}
