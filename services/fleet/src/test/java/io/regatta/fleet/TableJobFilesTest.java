package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.StringJoiner;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The jobs of configs/ that declare features, on small tables of random values: they are analyzed and trained as they are.
 * What they reach on real tables is in docs/decisions/0051-defaults-are-measured.md.
 */
class TableJobFilesTest {

  private static final int ROWS = 1200;

  @TempDir
  Path dir;

  /** Writes a table in which the first of the columns of ids decides. */
  private void write(String file, String header, String separator, int columns, int label, List<String> labels) throws IOException {
    Random random = new Random(file.hashCode());
    StringBuilder text = new StringBuilder(header.isEmpty() ? "" : header + "\n");
    for (int row = 0; row < ROWS; row++) {
      StringJoiner line = new StringJoiner(separator);
      int cause = random.nextInt(10);
      for (int column = 0; column < columns; column++) {
        line.add(column == label ? labels.get(random.nextInt(10) < cause ? 1 : 0) : String.valueOf(column == label + 5 ? cause
            : random.nextInt(10)));
      }
      text.append(line).append('\n');
    }
    Files.writeString(dir.resolve(file), text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"criteo-logistic-regression", "criteo-fm", "criteo-wide-and-deep", "criteo-deepfm", "criteo-dcn-v2",
      "avazu-deepfm", "census-deepfm"})
  void a_job_of_a_table_is_analyzed_and_learns(String name) throws IOException {
    if (name.startsWith("criteo")) {
      write("train.tsv", "", "\t", 40, 0, List.of("0", "1"));
    } else if (name.startsWith("avazu")) {
      write("train.csv", "id,click,hour,C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,app_category,device_id,device_ip,"
          + "device_model,device_type,device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21", ",", 24, 1, List.of("0", "1"));
    } else {
      write("train.csv", "", ",", 15, 14, List.of("<=50K", ">50K"));
      write("test.csv", "", ",", 15, 14, List.of("<=50K", ">50K"));
    }
    String job = Checkout.file("configs/" + name + ".yaml").toString();
    Path result = dir.resolve("result.json");
    done("analyze", job, "--data", dir.toString());
    done("train", "--local", job, "--data", dir.toString(), "--output", "", "--result", result.toString(), "--set", "epochs=3",
        "--set", "batch_size=32"); // some steps for so few rows
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getJsonArray("evaluations")).isNotEmpty();
    if (!name.startsWith("census")) { // its label comes last, so that no column decides
      assertThat(figures.getDouble("auc")).isGreaterThan(0.7);
    }
  }

  private static void done(String... args) {
    CommandLineRun run = CommandLineRun.regatta(args);
    assertThat(run.status()).as(run.toString()).isZero();
  }
}
