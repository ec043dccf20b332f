package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prepared data are never destroyed by a later command or job. */
class PrepareCommandTest {

  @TempDir
  Path dir;

  private CommandLineRun generate(String... more) {
    List<String> args = new ArrayList<>(List.of("prepare", "generate", "--to", dir.resolve("data").toString(), "--test-rows", "50",
        "--parts", "2"));
    args.addAll(List.of(more));
    return CommandLineRun.regatta(args.toArray(String[]::new));
  }

  @Test
  void generated_data_of_another_size_stay_unless_they_are_to_be_overwritten() throws IOException {
    assertThat(generate("--rows", "300", "--seed", "5").status()).isZero();
    GeneratedCriteo made = GeneratedCriteo.in(dir.resolve("data"));
    CommandLineRun other = generate("--rows", "400");
    assertThat(other.status()).isEqualTo(2);
    assertThat(other.failure().lines()).hasSize(1);
    assertThat(other.failure()).contains(dir.resolve("data").toString(), "300 training rows in 2 files and 50 test rows, seed 5",
        "requested are 400 training rows in 2 files and 50 test rows, seed 1", "--to", "--overwrite");
    assertThat(GeneratedCriteo.in(dir.resolve("data"))).isEqualTo(made);

    CommandLineRun job = CommandLineRun.regatta("simulate", Checkout.file("configs/wide-and-deep.yaml").toString(), "--data",
        dir.resolve("data").toString(), "--output", dir.resolve("model").toString());
    assertThat(job.status()).isEqualTo(2);
    assertThat(job.failure()).contains("job wide-and-deep: ", "300 training rows in 2 files", "requested are 200000 training rows",
        "--data (data.dir)", "set seed and settings.train_rows, test_rows and train_files to theirs");
    assertThat(job.err().lines()).as("nothing has started").containsExactly(job.failure());
    assertThat(job.failure()).contains("data.test_files: [test.tsv]");
    CommandLineRun named = CommandLineRun.regatta("train", "--local", Checkout.file("configs/wide-and-deep.yaml").toString(),
        "--data", dir.resolve("data").toString(), "--set", "output=", "--set", "data.test_files=test.tsv", "--set", "settings.hidden=4",
        "--set", "batch_size=50", "--set", "epochs=1");
    assertThat(named.status()).as(named.err()).isZero();
    assertThat(named.out()).contains("6 steps, 300 examples");
    assertThat(CriteoGenerator.ensure(dir.resolve("data"), made.size())).as("it is all there").isEqualTo(made);

    assertThat(generate("--rows", "400", "--overwrite").status()).isZero();
    assertThat(GeneratedCriteo.in(dir.resolve("data")).size()).isEqualTo(new CriteoGenerator.Size(1, 400, 50, 2));
    nobodyTrainsOnTheBeginning(made);
  }

  /** Checks data of a command that was killed before all files were there. */
  private void nobodyTrainsOnTheBeginning(GeneratedCriteo made) throws IOException {
    Path data = dir.resolve("data");
    Files.writeString(data.resolve("criteo.unfinished"), "{\"version\":" + made.version() + ",\"size\":{\"seed\":5,"
        + "\"trainRows\":300,\"testRows\":50,\"trainFiles\":2},\"files\":[]}");
    Files.delete(data.resolve(GeneratedCriteo.NAME));
    String job = Checkout.file("configs/wide-and-deep.yaml").toString();
    CommandLineRun other = CommandLineRun.regatta("simulate", job, "--data", data.toString());
    assertThat(other.status()).isEqualTo(2);
    assertThat(other.failure()).contains("the beginning of generated data of 300 training rows", "set seed and settings.train_rows")
        .doesNotContain("data.test_files");
    CommandLineRun named = CommandLineRun.regatta("train", "--local", job, "--data", data.toString(), "--set", "output=", "--set",
        "data.test_files=test.tsv");
    assertThat(named.status()).isEqualTo(2);
    assertThat(named.failure()).contains(data.toString(), "not complete", "data.files");
  }

  @Test
  void a_dictionary_does_not_take_the_place_of_a_file_unasked() throws IOException {
    Path text = Files.writeString(dir.resolve("book.txt"), "a b a\n".repeat(60));
    CommandLineRun slip = CommandLineRun.regatta("prepare", "dictionary", text.toString(), "--to", text.toString());
    assertThat(slip.status()).isEqualTo(2);
    assertThat(slip.failure()).contains(text + " is there already", "--overwrite");
    assertThat(text).hasContent("a b a\n".repeat(60));
    Path words = Files.writeString(dir.resolve("words"), "");
    assertThat(CommandLineRun.regatta("prepare", "dictionary", text.toString(), "--to", words.toString(), "--overwrite").status())
        .isZero();
    assertThat(words).isNotEmptyFile();
  }
}
