package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta tune}: successive halving that is continued after a stop, the table, the plot, and the learning-rate finder. */
class TuneCommandTest {

  @TempDir
  Path dir;
  private Path job;

  @BeforeEach
  void table() throws IOException {
    Random random = new Random(4);
    StringBuilder rows = new StringBuilder("y,a\n");
    for (int i = 0; i < 600; i++) {
      int a = random.nextInt(5);
      rows.append(random.nextInt(5) < a ? 1 : 0).append(",v").append(a).append('\n');
    }
    Files.writeString(dir.resolve("train.csv"), rows);
    job = Files.writeString(dir.resolve("job.yaml"), """
        job: small
        epochs: 4
        batch_size: 50
        compute_threads: 1
        optimizer: {kind: sgd}
        data: {dir: %s, test: {share: 0.2, by: hash}, validation: {share: 0.2, by: hash}}
        early_stopping: {metric: logloss}
        labels: {y: {}}
        features: {a: {kind: id}}
        model: {kind: logistic_regression}
        tune:
          strategy: halving
          eta: 2
          parameters:
            optimizer.learning_rate: {from: 0.0001, to: 1, scale: log}
            batch_size: {from: 20, to: 60, whole: true}
        """.formatted(dir));
  }

  private CommandLineRun tune(String... more) {
    List<String> args = new ArrayList<>(List.of("tune", job.toString(), "--to", dir.resolve("tune").toString()));
    args.addAll(List.of(more));
    return CommandLineRun.regatta(args.toArray(String[]::new));
  }

  private static CommandLineRun done(CommandLineRun run) {
    assertThat(run.status()).as(run.toString()).isZero();
    return run;
  }

  private static List<String> table(CommandLineRun run) {
    return run.out().lines().filter(line -> line.startsWith("|") || line.startsWith("Best")).toList();
  }

  @Test
  void when_a_search_was_stopped_then_it_continues_and_ends_as_one_that_was_not() throws IOException {
    CommandLineRun whole = done(tune("--trials", "4", "--parallel", "2"));
    assertThat(whole.out()).contains("4 trials in 3 rungs", "| trial | logloss | epoch | batch_size | optimizer.learning_rate |",
        "Best: --set batch_size=");
    Path file = dir.resolve("tune/trials.jsonl");
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(1 + 4 + 2 + 1);
    assertThat(Files.readString(dir.resolve("tune/trials.svg"))).startsWith("<svg").contains("optimizer.learning_rate, logarithmic");

    Files.write(file, lines.subList(0, 4));
    CommandLineRun continued = done(tune("--trials", "4", "--parallel", "1"));
    assertThat(continued.out()).contains("3 have ended before");
    assertThat(table(continued)).isEqualTo(table(whole));

    CommandLineRun other = tune("--trials", "5");
    assertThat(other.status()).isEqualTo(2);
    assertThat(other.err()).contains("holds the trials of another job, other ranges or another strategy; give --overwrite");
  }

  @Test
  void when_a_learning_rate_is_looked_for_then_the_training_loss_of_each_is_shown_and_too_high_ones_do_not_win() {
    CommandLineRun run = done(tune("--find-learning-rate", "--steps", "20", "--set", "tune.strategy=random"));
    String best = run.out().lines().filter(line -> line.startsWith("Best: ")).findFirst().orElseThrow();
    assertThat(Double.parseDouble(best.substring(best.indexOf('=') + 1))).isBetween(0.05, 1.0);
  }

  @Test
  void when_there_is_nothing_to_choose_or_to_compare_by_then_the_command_says_what_to_add() throws IOException {
    Files.writeString(job, Files.readString(job).replaceAll("(?s)tune:.*", ""));
    assertThat(tune("--trials", "2").err()).contains("tune.parameters is missing; give keys with their ranges");
  }
}
