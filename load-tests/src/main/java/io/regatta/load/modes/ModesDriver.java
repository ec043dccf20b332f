package io.regatta.load.modes;

import io.regatta.core.exchange.Mode;
import io.regatta.core.progress.Progress;
import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.load.process.Table;
import io.regatta.predictor.Predictor;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The driver of the cost in quality of modes, numbers of trainers and batch sizes. It trains CTR-DNN with 10,000,001
 * ids on generated data: alone, in each mode with two trainers, and in sync and async over trainers and batches. AUC is
 * that of the saved model on the test data, as a predictor serves it. It is taken over all examples and over those with
 * the fewest and the most rare ids, beside the AUC of the probabilities that the labels were drawn with. In this
 * process, one run after the other.
 */
public final class ModesDriver {

  private static final long ID_SPACE = 10_000_001;
  private static final int PARTS = 20;
  private static final int PREDICTED = 1000;
  /**
   * Epochs in which the runs of all modes come near the limit of the data, and in which the cost of large batches
   * shows.
   */
  private static final int MODES_EPOCHS = 4;
  private static final int GRID_EPOCHS = 2;
  private static final int LOCAL_BATCH = 1000;
  /** Learning rate for a batch of 1000; it grows with the examples of one update. */
  private static final double RATE = 0.1;
  private static final double ROWS_RATE = 20;
  private static final int SERVERS = 2;
  private static final String[] COLUMNS = {"run", "trainers", "batch", "AUC", "AUC, fewest rare ids", "AUC, most rare ids",
      "to --local", "wanted", "examples/s", "staleness, most", "clock lead, most"};
  private static final double WANTED = 0.005;

  /**
   * @param trainRows of the generated data
   * @param testRows over which AUC is taken
   * @param grid whether the table of trainers and batch sizes is made as well
   */
  public record Size(int trainRows, int testRows, boolean grid) {

    /** Sizes of the results in docs/results.md. */
    public static final Size FULL = new Size(500_000, 40_000, true);
    public static final Size QUICK = new Size(50_000, 40_000, true);
  }

  private final Path dir;
  private final boolean withGrid;
  private final GeneratedCriteo data;
  private final Rarity rarity;
  private final JsonArray raw = new JsonArray();
  private double localAuc = Double.NaN;

  private ModesDriver(Path dir, Size wanted) {
    this.dir = dir;
    withGrid = wanted.grid();
    CriteoGenerator.Size size = new CriteoGenerator.Size(1, wanted.trainRows(), wanted.testRows(), PARTS);
    data = CriteoGenerator.ensure(dir.resolve("data"), size);
    rarity = Rarity.of(data.train(dir.resolve("data")), data.test(dir.resolve("data")), wanted.testRows(), ID_SPACE);
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  public static Result run(Size size) throws IOException {
    Path dir = Files.createTempDirectory("regatta-load-modes");
    try {
      return new ModesDriver(dir, size).run();
    } finally {
      try (Stream<Path> files = Files.walk(dir)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private Result run() throws IOException {
    double[] probabilities = CriteoGenerator.testProbabilities(data.size());
    float[] best = new float[probabilities.length];
    for (int i = 0; i < best.length; i++) {
      best[i] = (float) probabilities[i];
    }
    Table modes = new Table(COLUMNS);
    double[] bestAuc = rarity.auc(best);
    modes.row("the data's best", "", "", bestAuc[0], bestAuc[1], bestAuc[2], "", "", "", "", "");
    row(modes, MODES_EPOCHS, null, 1, LOCAL_BATCH);
    for (Mode mode : Mode.ofServers()) {
      row(modes, MODES_EPOCHS, mode, 2, LOCAL_BATCH);
    }
    String markdown = "## modes: CTR-DNN, " + data.size().trainRows() + " generated rows in " + PARTS + " parts, "
        + ID_SPACE + " ids, " + MODES_EPOCHS + " passes\n\n" + modes;
    if (withGrid) {
      markdown += "\n## trainers and batches, " + GRID_EPOCHS + " passes\n\n" + grid();
    }
    return new Result(markdown, new JsonObject().put("best", new JsonArray(List.of(bestAuc[0], bestAuc[1], bestAuc[2])))
        .put("measured", raw));
  }

  private Table grid() throws IOException {
    Table grid = new Table(COLUMNS);
    row(grid, GRID_EPOCHS, null, 1, LOCAL_BATCH);
    for (Strategy strategy : List.of(Strategy.sync(), Strategy.async())) {
      for (int batch : List.of(100, LOCAL_BATCH)) {
        for (int trainers : List.of(1, 2, 4)) {
          row(grid, GRID_EPOCHS, strategy.mode(), trainers, batch);
        }
      }
    }
    return grid;
  }

  /** @param mode null: alone, without services */
  private void row(Table table, int epochs, Mode mode, int trainers, int batch) throws IOException {
    JobConfig job = job(epochs, mode, trainers, batch);
    RunResult result = mode == null ? LocalRun.run(job, null, Progress.none())
        : LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgress(Progress.none())).get(0);
    double[] auc = rarity.auc(scores(Path.of(job.output())));
    localAuc = mode == null ? auc[0] : localAuc;
    String name = mode == null ? "--local" : mode.id();
    String wanted = epochs == MODES_EPOCHS && mode != null ? "≥ -" + WANTED : "";
    table.row(name, trainers, batch, text(auc[0]), text(auc[1]), text(auc[2]), text(auc[0] - localAuc), wanted,
        result.examplesPerSecond(), result.stalenessMax(), result.clockLeadMax());
    raw.add(new JsonObject().put("run", name).put("epochs", epochs).put("trainers", trainers).put("batch", batch)
        .put("auc", auc[0]).put("auc_fewest_rare", auc[1]).put("auc_most_rare", auc[2])
        .put("examples_per_second", result.examplesPerSecond()).put("staleness_max", result.stalenessMax())
        .put("clock_lead_max", result.clockLeadMax()));
    System.err.println("modes: " + raw.getJsonObject(raw.size() - 1).encode());
  }

  private static String text(double auc) {
    return String.format(Locale.ROOT, "%.4f", auc);
  }

  private JobConfig job(int epochs, Mode mode, int trainers, int batch) {
    double averaged = (mode != null && mode.hasRounds() ? trainers : 1) * batch / (double) LOCAL_BATCH;
    long steps = (long) epochs * data.size().trainRows() / (trainers * (long) batch);
    return JobConfig.of(new JsonObject().put("job", "modes").put("program", "io.regatta.program.CtrDnn")
        .put("mode", mode == null ? "sync" : mode.id()).put("servers", mode == null ? 1 : SERVERS).put("trainers", trainers)
        .put("seed", 1).put("epochs", epochs).put("batch_size", batch).put("compute_threads", 1)
        .put("optimizer", sgd(RATE * averaged, steps)).put("sparse_optimizer", sgd(ROWS_RATE * averaged, steps))
        .put("data", new JsonObject().put("dir", dir.resolve("data").toString()).put("shuffle_buffer", 20_000)
            .put("drop_last", true))
        .put("output", dir.resolve("model").toString())
        .put("settings", new JsonObject().put("embedding", 10).put("hidden", new JsonArray().add(400).add(400).add(400))
            .put("gain", 1.414).put("id_space", ID_SPACE).put("train_rows", data.size().trainRows())
            .put("test_rows", data.size().testRows()).put("train_files", PARTS)));
  }

  /** Returns a schedule that rises within a fifth of the steps, then falls by a cosine. */
  private static JsonObject sgd(double rate, long steps) {
    long warmUp = Math.max(1, steps / 5);
    return new JsonObject().put("kind", "sgd").put("learning_rate", rate).put("schedule", new JsonObject()
        .put("kind", "cosine").put("warmup_steps", warmUp).put("warmup_start", rate / 10)
        .put("decay_steps", Math.max(1, steps - warmUp)).put("minimum", rate / 10));
  }

  private float[] scores(Path model) throws IOException {
    List<String> lines = Files.readAllLines(data.test(dir.resolve("data")));
    float[] scores = new float[lines.size()];
    try (Predictor predictor = Predictor.load(model)) {
      List<float[]> parts = new ArrayList<>();
      for (int from = 0; from < lines.size(); from += PREDICTED) {
        parts.add(predictor.predict(lines.subList(from, Math.min(lines.size(), from + PREDICTED))).join().scores());
      }
      int at = 0;
      for (float[] part : parts) {
        System.arraycopy(part, 0, scores, at, part.length);
        at += part.length;
      }
    }
    return scores;
  }
}
