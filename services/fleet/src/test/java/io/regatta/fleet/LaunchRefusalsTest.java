package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A setting that each process of a launched job would refuse: the launcher refuses it once, and starts no process. */
class LaunchRefusalsTest {

  @TempDir
  Path dir;

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      ps         | --set batch_size=-8                       | batch_size must be at least 1, not -8 (--set batch_size)
      ps         | --set optimizer.learning_rat=1            | optimizer.learning_rate
      ps         | --frobnicate                              | there is no option '--frobnicate' (regatta run --help lists what there is)
      ps         | --servers two                             | key 'servers': expected int, got "two" (--servers)
      ps         | --set program=io.regatta.program.WideAndDeep --set settings.no_such=1 | no_such
      ps         | --set device=gpu:99                       | device: gpu:99, but engine
      ps         | --mode geo --set optimizer.kind=adam      | geo mode trains with SGD only
      ps         | --set parameter_server.index=5            | index
      ps         | --set rendezvous.lease_ms=0               | lease_ms
      ps         | --set rendezvous.leas_ms=5000             | rendezvous.lease_ms
      ps         | --output JOB                              | it is a file
      ps         | --set program=org.example.Missing         | org.example.Missing
      ps         | --set init_from=nowhere                   | nowhere does not exist
      ps         | --result DIR                              | is a directory
      collective | --set device=gpu:99                       | device: gpu:99, but engine
      collective | --set rendezvous.tick_ms=-1               | tick_ms
      master     | --set rendezvous.lease_ms=0               | lease_ms
      master     | --set batch_size=0                        | batch_size must be at least 1
      """)
  void a_refused_setting_is_said_once_and_nothing_is_started(String kind, String arguments, String wanted) throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\nbatch_size: 8\n"
        + "compute_threads: 1\n" + (kind.equals("ps") ? "" : "mode: collective\nservers: 0\n")).toString();
    Path logs = dir.resolve("log");
    List<String> words = new ArrayList<>(List.of("launch", "--log_dir", logs.toString()));
    words.addAll(switch (kind) {
      case "ps" -> List.of("--server_num=2", "--worker_num=2");
      case "collective" -> List.of("--nproc_per_node=2");
      default -> List.of("--master", "127.0.0.1:" + FreePorts.one(), "--nproc_per_node=2");
    });
    words.add(job);
    words.addAll(Arrays.asList(arguments.replace("JOB", job).replace("DIR", dir.toString()).split(" +")));
    CommandLineRun run = CommandLineRun.regatta(words.toArray(String[]::new));
    assertThat(run.status()).as(run.out() + run.err()).isEqualTo(2);
    assertThat(run.failure().lines()).as(run.err()).hasSize(1);
    assertThat(run.failure()).contains(wanted);
    assertThat(logs).as("logs of processes").doesNotExist();
  }
}
