package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way from a table to predictions by commands alone: {@code analyze}, {@code simulate}, {@code predict}. */
class TabularJobTest {

  private static final int ROWS = 3000;
  private static final int TRAINING_ROWS = 2400;
  /** The best AUC that the random labels below allow is about 0.83. */
  private static final double LEARNED = 0.75;

  @TempDir
  Path dir;
  private Path job;

  /** Writes a table whose label follows two columns, with a city that only test rows have. */
  @BeforeEach
  void table() throws IOException {
    Random random = new Random(7);
    List<String> cities = List.of("Rome", "Oslo", "Lima", "Pune");
    StringBuilder rows = new StringBuilder("click,age,city\n");
    for (int i = 0; i < ROWS; i++) {
      int city = random.nextInt(cities.size());
      int age = 20 + random.nextInt(50);
      double logit = 2 * (city - 1.5) + 0.05 * (age - 45);
      String name = i >= TRAINING_ROWS && i % 100 == 0 ? "Kyiv" : cities.get(city);
      rows.append(random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0).append(',').append(random.nextInt(10) == 0 ? "" : age)
          .append(',').append(name).append('\n');
    }
    Files.writeString(Files.createDirectories(dir.resolve("data")).resolve("rows.csv"), rows);
    job = Files.writeString(dir.resolve("clicks.yaml"), """
        job: clicks
        mode: sync
        servers: 1
        trainers: 2
        epochs: 3
        batch_size: 50
        compute_threads: 1
        optimizer: {kind: adam, learning_rate: 0.01}
        sparse_optimizer: {kind: adagrad, learning_rate: 0.1}
        data: {dir: %s, files: [rows.csv], test: {share: 0.2, by: position}}
        labels: {click: {kind: binary}}
        features:
          age: {kind: bucket, quantiles: 5}
          city: {kind: id, min_count: 2}
        model: {kind: deepfm, embedding: 4, hidden: [8]}
        output: %s
        """.formatted(dir.resolve("data"), dir.resolve("model")));
  }

  private static CommandLineRun done(String... args) {
    CommandLineRun run = CommandLineRun.regatta(args);
    assertThat(run.status()).as(run.toString()).isZero();
    return run;
  }

  @Test
  void when_declarations_change_after_the_analysis_then_its_statistics_are_refused() {
    done("analyze", job.toString());
    refused("features.age.quantiles=4", "were computed for other features; run ./regatta analyze --overwrite");
    refused("data.test.share=0.3", "were computed with test rows by position 0.2, but data.test is position 0.3; run ./regatta analyze "
        + "--overwrite");
  }

  private void refused(String change, String words) {
    CommandLineRun run = CommandLineRun.regatta("train", "--local", job.toString(), "--set", change);
    assertThat(run.status()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains(words);
  }

  @Test
  void when_a_table_is_analyzed_then_a_job_learns_it_and_predict_reads_rows_with_and_without_the_label() throws IOException {
    CommandLineRun early = CommandLineRun.regatta("train", "--local", job.toString());
    assertThat(early.status()).isEqualTo(2);
    assertThat(early.err()).contains("statistics of the training rows are missing in " + dir.resolve("data/statistics-clicks"), "regatta analyze");

    CommandLineRun analyze = done("analyze", job.toString(), "--threads", "2");
    assertThat(analyze.out()).contains(TRAINING_ROWS + " training rows, 0 bad lines", "age: whole, 50 distinct, ", "city: text, 4 distinct, 0.0 % missing, AUC 0.");
    assertThat(Files.readString(dir.resolve("data/statistics-clicks/vocabulary-0.tsv"))).contains("Rome", "Pune").doesNotContain("Kyiv");
    CommandLineRun again = CommandLineRun.regatta("analyze", job.toString());
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("give --overwrite to replace them");

    Path result = dir.resolve("result.json");
    done("simulate", job.toString(), "--result", result.toString());
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getDouble("auc")).isGreaterThan(LEARNED);

    List<String> lines = Files.readAllLines(dir.resolve("data/rows.csv"));
    Path test = Files.write(dir.resolve("test.csv"),
        Stream.concat(lines.stream().limit(1), lines.stream().skip(1 + TRAINING_ROWS)).toList());
    Path unlabelled = Files.write(dir.resolve("new.csv"),
        Files.readAllLines(test).stream().map(line -> line.substring(line.indexOf(',') + 1)).toList());
    CommandLineRun labelled = done("predict", "--model", dir.resolve("model").toString(), "--metrics", test.toString());
    assertThat(labelled.out()).isEqualTo(done("predict", "--model", dir.resolve("model").toString(), unlabelled.toString()).out());
    assertThat(labelled.out().lines()).hasSize(ROWS - TRAINING_ROWS);
    String metrics = labelled.err().lines().filter(line -> line.startsWith("auc ")).findFirst().orElseThrow();
    assertThat(Double.parseDouble(metrics.split("[ ,]+")[1])).isCloseTo(figures.getDouble("auc"), within(1e-4));
  }
}
