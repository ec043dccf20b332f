package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.fleet.command.output.Report;
import io.regatta.node.testing.LeftoverThreads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta simulate} and {@code train --local}: README's first command, made small. */
class SimulateTest {

  @TempDir
  Path dir;

  private CommandLineRun command(String command, String... options) {
    List<String> args = new ArrayList<>(List.of(command, Checkout.file("configs/wide-and-deep.yaml").toString()));
    Jobs.tiny(dir).forEach(key -> args.addAll(List.of("--set", key)));
    args.addAll(List.of(options));
    return CommandLineRun.regatta(args.toArray(String[]::new));
  }

  private JsonNode result(String name) throws Exception {
    return new ObjectMapper().readTree(dir.resolve(name).toFile());
  }

  @Test
  void writes_one_line_of_truth() throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    CommandLineRun run = command("simulate", "--mode", "geo", "--set", "k_steps=3", "--servers", "1", "--trainers", "3",
        "--max-steps", "7", "--result", dir.resolve("result.json").toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).startsWith("simulating ").contains(
        "starting a rendezvous, 1 server with 1 shard, 3 trainers in this process, mode geo\n");
    assertThat(run.out()).contains("wide-and-deep: geo, 1 server", "3 trainers: 7 steps, 1344 examples", "AUC",
        "by trainer:", "parameters' hash ", "seed 1", "process " + ProcessHandle.current().pid());
    JsonNode result = result("result.json");
    assertThat(result.fieldNames()).toIterable().startsWith("job", "mode", "servers", "trainers", "shards", "seed",
        "steps", "examples", "seconds", "examples_per_second", "loss", "auc", "accuracy", "logloss", "staleness_max",
        "process_ids", "model", "parameters_hash");
    assertThat(result.get("job").asText()).isEqualTo("wide-and-deep");
    assertThat(result.get("mode").asText()).isEqualTo("geo");
    assertThat(result.get("trainers").asInt()).isEqualTo(3);
    assertThat(result.get("steps").asLong()).isEqualTo(7);
    assertThat(result.get("examples").asLong()).isEqualTo(3 * 7 * 64);
    assertThat(result.get("examples_per_second").asDouble()).isPositive();
    assertThat(result.get("auc").asDouble()).isBetween(0.3, 0.9);
    assertThat(result.get("process_ids").get("trainer-2").asLong()).isEqualTo(ProcessHandle.current().pid());
    assertThat(Path.of(result.get("model").asText())).isNotEmptyDirectory();
    threads.assertNone();
  }

  @Test
  void one_trainer_computes_what_the_program_computes_alone() throws Exception {
    String[] one = {"--max-steps", "10", "--result", dir.resolve("simulated.json").toString(), "--trainers", "1",
        "--servers", "2", "--mode", "sync"};
    assertThat(command("simulate", one).status()).isZero();
    for (String alone : List.of("train", "simulate")) {
      CommandLineRun local = command(alone, "--max-steps", "10", "--result", dir.resolve("local.json").toString(), "--local");
      assertThat(local.status()).as(local.err()).isZero();
      assertThat(result("local.json").get("parameters_hash"))
          .isEqualTo(result("simulated.json").get("parameters_hash"));
      assertThat(result("local.json").get("auc")).isEqualTo(result("simulated.json").get("auc"));
    }
  }

  @Test
  void when_a_run_has_ended_with_success_then_its_next_start_ends_well_and_leaves_the_model() throws Exception {
    String[] run = {"--max-steps", "2", "--servers", "1", "--trainers", "1", "--set", "run_id=run-1", "--result",
        dir.resolve("result.json").toString()};
    assertThat(command("simulate", run).status()).isZero();
    Path model = Path.of(result("result.json").get("model").asText());
    JsonNode record = new ObjectMapper().readTree(model.resolve("run.json").toFile());
    assertThat(record.get("run_id").asText()).isEqualTo("run-1");
    assertThat(record.get("job").asText()).isEqualTo("wide-and-deep");
    Files.delete(dir.resolve("result.json"));

    CommandLineRun late = command("simulate", run);
    assertThat(late.status()).as(late.err()).isZero();
    assertThat(late.err().lines()).as("one line").hasSize(1).allMatch(line -> line.contains("run run-1 of job wide-and-deep ended with success"));
    assertThat(dir.resolve("result.json")).doesNotExist();

    run[7] = "run_id=run-2";
    CommandLineRun next = command("simulate", run);
    assertThat(next.status()).as(next.err()).isZero();
    assertThat(new ObjectMapper().readTree(model.resolve("run.json").toFile()).get("run_id").asText()).isEqualTo("run-2");
  }

  @Test
  void what_means_nothing_to_one_trainer_alone_is_refused() {
    CommandLineRun run = command("simulate", "--local", "--slow", "1=5", "--trainers", "3", "--mode", "geo");
    assertThat(run.status()).isEqualTo(Report.BAD_INPUT);
    assertThat(run.err()).contains("--slow, --mode, --trainers: no effect with --local");
  }
}
