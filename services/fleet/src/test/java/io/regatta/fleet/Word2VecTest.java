package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.command.Regatta;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PaddlePaddle's cluster guide: a book in three parts, a trainer for each, against one process that reads all of them. */
class Word2VecTest {

  private static final int PARTS = 3;
  private static final int BATCH = 200;
  /** The test reads the first half of the book, which has 36,242 lines. */
  private static final int LINES = 18_000;
  /** Windows that a trainer shuffles together; one process has three times as many, or it would see less mixed batches. */
  private static final int BUFFER = 20_000;

  @TempDir
  Path dir;

  private JobConfig job(String... keys) {
    List<String> all = new ArrayList<>(List.of("data.dir=" + dir, "output=", "epochs=2", "settings.hidden=64",
        "data.shuffle_buffer=" + BUFFER, "compute_threads=1"));
    all.addAll(List.of(keys));
    return Jobs.config("word2vec", all.toArray(String[]::new));
  }

  @Test
  void three_trainers_with_a_part_each_learn_as_one_process_does() throws Exception {
    Path book = Jobs.data("war_and_peace");
    Files.copy(book.resolve("wap.test.txt"), dir.resolve("test.txt"));
    Path half = dir.resolve("half.txt");
    try (Stream<String> lines = Files.lines(book.resolve("wap.train.txt"))) {
      Files.write(half, lines.limit(LINES).toList());
    }
    assertThat(Regatta.execute(null, "prepare", "split", half.toString(), "--parts",
        String.valueOf(PARTS), "--to", dir.toString(), "--name", "train.txt")).isZero();
    assertThat(Regatta.execute(null, "prepare", "dictionary", half.toString(), "--to",
        dir.resolve("words").toString())).isZero();
    String dictionary = "settings.dictionary=" + dir.resolve("words");

    List<Double> three = perplexities(progress -> LocalCluster.run(LocalCluster.Options
        .of(job("batch_size=" + BATCH, dictionary)).withoutHazelcast().withProgress(progress)).get(0));
    List<Double> one = perplexities(progress -> LocalRun.run(job("batch_size=" + BATCH * PARTS,
        "data.shuffle_buffer=" + BUFFER * PARTS, dictionary), null, progress));

    System.out.println("perplexity per pass, three trainers " + three + ", one process " + one);
    assertThat(three).hasSize(2).hasSameSizeAs(one);
    assertThat(three.get(1)).isLessThan(three.get(0));
    assertThat(three.get(0) / one.get(0)).as("a part of the book each mixes batches better at first").isLessThan(1.03);
    assertThat(three.get(1) / one.get(1)).isBetween(0.97, 1.03);
  }

  private interface Run {
    RunResult with(Progress progress);
  }

  /** Returns the perplexities in the run's lines, one for each pass. */
  private static List<Double> perplexities(Run run) {
    List<Double> perplexities = new ArrayList<>();
    run.with(new Progress() {
      @Override
      public void line(String text) {
        if (text.startsWith("pass ")) {
          perplexities.add(Double.parseDouble(text.substring(text.lastIndexOf(' ') + 1)));
        }
      }
    });
    return perplexities;
  }
}
