package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.process.JobFile;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The job of each page of docs/models runs, and reaches what the page says: {@code -Dregatta.docs.update=true} writes the
 * numbers anew.
 */
class ModelPagesTest {

  private static final Pattern JOB = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);
  private static final Pattern REACHES = Pattern.compile("`([a-z0-9_.@]+)` (-?[0-9]+\\.[0-9]+|@[^ ]+@)");
  /** Rounding differs between processors; training magnifies it. */
  private static final double SAME = 0.02;

  @TempDir
  Path dir;

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(Checkout.file("docs/models"))) {
      return files.filter(file -> file.toString().endsWith(".md") && !file.endsWith("README.md")).sorted().toList();
    }
  }

  static Stream<String> pages() throws IOException {
    return files().stream().map(file -> file.getFileName().toString());
  }

  private JobConfig job(String page) throws IOException {
    Matcher job = JOB.matcher(page);
    assertThat(job.find()).isTrue();
    Path file = Files.writeString(dir.resolve("job.yaml"), job.group(1));
    return JobFile.load(file, Map.of(), List.of(), List.of(), List.of("data.dir=" + Checkout.file("docs/models/data"), "compute_threads=1"),
        new JsonObject());
  }

  @ParameterizedTest
  @MethodSource("pages")
  void the_job_reaches_what_the_page_says(String name) throws IOException {
    Path file = Checkout.file("docs/models/" + name);
    String page = Files.readString(file);
    RunResult result = LocalRun.run(job(page), null, Progress.none());
    String sentence = page.lines().filter(line -> line.startsWith("It reaches ")).findFirst().orElseThrow();
    Matcher reaches = REACHES.matcher(sentence);
    StringBuilder written = new StringBuilder();
    int metrics = 0;
    while (reaches.find()) {
      double value = result.metric(reaches.group(1));
      if (Boolean.getBoolean("regatta.docs.update")) {
        reaches.appendReplacement(written, String.format(Locale.ROOT, "`%s` %.3f", reaches.group(1), value));
      } else {
        assertThat(value).as(reaches.group(1)).isCloseTo(Double.parseDouble(reaches.group(2)), within(SAME));
      }
      metrics++;
    }
    assertThat(metrics).isPositive();
    if (Boolean.getBoolean("regatta.docs.update")) {
      Files.writeString(file, page.replace(sentence, reaches.appendTail(written).toString()));
    }
  }

  @Test
  void every_model_has_a_page() throws IOException {
    List<ModelConfig.Kind> kinds = new ArrayList<>(List.of(ModelConfig.Kind.NONE));
    for (Path file : files()) {
      kinds.add(job(Files.readString(file)).model().kind());
    }
    assertThat(kinds).contains(ModelConfig.Kind.values());
    String index = Checkout.text("docs/models/README.md");
    for (Path file : files()) {
      assertThat(index).contains("](" + file.getFileName() + ")");
    }
  }
}
