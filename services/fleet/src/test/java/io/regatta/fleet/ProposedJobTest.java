package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way from a file to a served model without writing a job file: init, analyze, simulate, explain. */
class ProposedJobTest {

  private static final int ROWS = 4000;

  @TempDir
  Path dir;
  private Path file;

  /** Writes a table of all kinds of columns; the label follows plan, spent and tags. */
  @BeforeEach
  void table() throws IOException {
    Random random = new Random(3);
    StringBuilder rows = new StringBuilder("customer_id,signed,plan,spent,visits,tags,note,region,empty,left_on,churned\n");
    LocalDateTime time = LocalDateTime.of(2026, 1, 1, 0, 0);
    for (int i = 0; i < ROWS; i++) {
      int plan = random.nextInt(3);
      double spent = Math.exp(3 + 1.5 * random.nextGaussian());
      int tag = random.nextInt(5);
      double logit = 1.2 * (plan - 1) - 0.8 * (Math.log(spent) - 3) + (tag == 2 ? 1.5 : -0.3);
      boolean churned = random.nextDouble() < 1 / (1 + Math.exp(-logit));
      time = time.plusMinutes(random.nextInt(60));
      rows.append("k").append(i).append(',').append(time.toString().replace('T', ' ')).append(":00,").append(List.of("free", "basic", "pro").get(plan))
          .append(',').append(random.nextInt(12) == 0 ? "" : String.format(Locale.ROOT, "%.2f", spent)).append(',')
          .append(random.nextInt(8)).append(",t").append(tag).append("|t").append((tag + 1 + random.nextInt(3)) % 5)
          .append(",\"called, said \"\"word").append(random.nextInt(40)).append("\"\" and word").append(random.nextInt(40)).append("\",EU,,")
          .append(churned ? "2026-12-01" : "").append(',').append(churned ? "yes" : "no").append('\n');
    }
    file = Files.writeString(Files.createDirectories(dir.resolve("shop")).resolve("train.csv"), rows);
  }

  private static CommandLineRun done(String... args) {
    CommandLineRun run = CommandLineRun.regatta(args);
    assertThat(run.status()).as(run.toString()).isZero();
    return run;
  }

  @Test
  void when_a_job_is_proposed_then_it_runs_as_it_is_and_its_model_is_explained() throws IOException {
    Path job = dir.resolve("shop.yaml");
    CommandLineRun init = done("init", file.toString(), "--to", job.toString());
    assertThat(init.out()).contains("Is yes the value to predict?", "next: ./regatta analyze");
    String text = Files.readString(job);
    assertThat(text).contains("churned: {kind: binary, positive: \"yes\"}", "test: {share: 0.2, by: position}",
        "signed: {kind: time, format: \"yyyy-MM-dd HH:mm:ss\", parts: [hour, weekday], zone: UTC}", "plan: {kind: id}",
        "spent: {kind: number, transform: log}", "spent bucket: {kind: bucket, quantiles: 5, column: spent}", "visits: {kind: id, whole: true}",
        "tags: {kind: ids, separator: \"|\", max: 2, pooling: mean}", "note: {kind: text");
    assertThat(text.lines().filter(line -> line.contains("left out: "))).hasSize(4).anyMatch(line -> line.contains("in nearly every row"))
        .anyMatch(line -> line.contains("it has no value")).anyMatch(line -> line.contains("the same value in all rows"))
        .anyMatch(line -> line.contains("it gives the label away (AUC 1.000 alone)"));
    CommandLineRun again = CommandLineRun.regatta("init", file.toString(), "--to", job.toString());
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("shop.yaml exists; remove it");

    CommandLineRun analyze = done("analyze", job.toString());
    assertThat(analyze.out()).contains("3200 training rows, 0 bad lines", "plan: text, 3 distinct, 0.0 % missing, AUC 0.");
    Path result = dir.resolve("result.json");
    done("simulate", job.toString(), "--output", dir.resolve("model").toString(), "--result", result.toString());
    assertThat(new JsonObject(Files.readString(result)).getDouble("auc")).as("the labels' own is 0.81").isGreaterThan(0.74);

    Path plot = dir.resolve("plot.svg");
    CommandLineRun explain = done("explain", dir.resolve("model").toString(), "--data", file.toString(), "--rows", "3000", "--result",
        dir.resolve("explained.json").toString(), "--plot", plot.toString());
    assertThat(explain.out()).contains("on 3000 examples; loss if a feature is shuffled:");
    JsonArray features = new JsonObject(Files.readString(dir.resolve("explained.json"))).getJsonArray("features");
    List<String> names = features.stream().map(each -> ((JsonObject) each).getString("name")).toList();
    assertThat(names.subList(0, 4)).as("%s", names).containsAnyOf("spent", "spent bucket").contains("plan", "tags");
    assertThat(features.getJsonObject(0).getDouble("importance")).isGreaterThan(0.01);
    assertThat(features.stream().map(JsonObject.class::cast).filter(each -> each.getString("name").equals("spent")).findFirst().orElseThrow()
        .getDouble("missing")).isBetween(0.05, 0.12);
    assertThat(features.stream().map(JsonObject.class::cast).filter(each -> each.getString("name").equals("plan")).findFirst().orElseThrow()
        .getJsonArray("weights").stream().map(each -> ((JsonObject) each).getString("value"))).contains("free", "basic", "pro");
    assertThat(Files.readString(plot)).startsWith("<svg").contains(">plan</text>").endsWith("</svg>\n");
  }

  @Test
  void when_a_look_cannot_know_the_label_then_it_asks_for_it() throws IOException {
    Path plain = Files.writeString(dir.resolve("flowers.csv"), "5.1,3.5,setosa\n4.9,3.0,setosa\n5.1,2.2,virginica\n5.0,2.0,other\n5.0,2.0,setosa\n".repeat(60));
    CommandLineRun none = CommandLineRun.regatta("init", plain.toString(), "--to", "-");
    assertThat(none.status()).isEqualTo(2);
    assertThat(none.err()).contains("no column with just two values", "--label");
    CommandLineRun many = CommandLineRun.regatta("init", plain.toString(), "--to", "-", "--label", "c3");
    assertThat(many.err()).contains("the column c3 has 3 values", "--positive", "virginica");
    CommandLineRun named = done("init", plain.toString(), "--to", "-", "--label", "c3", "--positive", "setosa");
    assertThat(named.out()).contains("columns: [\"c[1-3]\"]", "what are the names of the columns?", "c3: {kind: binary, positive: setosa}",
        "model: {kind: logistic_regression}");
    assertThat(CommandLineRun.regatta("init", plain.toString(), "--label", "y").err()).contains("has no column y, only [c1, c2, c3]");
    Path lines = Files.writeString(dir.resolve("rows.jsonl"), "{\"y\": 1, \"words\": [\"a\", \"b\"], \"x\": 1.5}\n{\"y\": 0, \"x\": 2.5}\n{\"y\": 1, \"x\": 2.5}\n".repeat(80));
    assertThat(done("init", lines.toString(), "--to", "-").out()).contains("format: json", "y: {kind: binary}", "# x: numbers 1.500 to 2.500",
        "words: {kind: ids, pooling: mean}");
  }
}
