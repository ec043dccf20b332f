package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.node.testing.LeftoverThreads;
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
  void what_means_nothing_to_one_trainer_alone_is_refused() {
    CommandLineRun run = command("simulate", "--local", "--slow", "1=5", "--trainers", "3", "--mode", "geo");
    assertThat(run.status()).isEqualTo(Regatta.BAD_INPUT);
    assertThat(run.err()).contains("--slow, --mode, --trainers: no effect with --local");
  }
}
