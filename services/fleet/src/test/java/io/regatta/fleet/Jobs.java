package io.regatta.fleet;

import io.regatta.fleet.process.JobFile;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Small jobs for tests, made from those in configs/. */
final class Jobs {

  private Jobs() {}

  /**
   * Returns settings that make wide & deep small: 4000 rows, 31 steps of 64 per epoch and two trainers, a few thousand
   * parameters.
   */
  static List<String> tiny(Path dir) {
    return List.of("data.dir=" + dir.resolve("data"), "output=" + dir.resolve("output"), "epochs=1", "batch_size=64",
        "optimizer.learning_rate=0.2", "optimizer.schedule.kind=constant",
        "optimizer.schedule.warmup_steps=0", "sparse_optimizer.learning_rate=5",
        "sparse_optimizer.schedule.kind=constant", "sparse_optimizer.schedule.warmup_steps=0", "settings.train_rows=4000",
        "settings.test_rows=1000", "settings.id_space=1001", "settings.embedding=4", "settings.hidden=[16,8]",
        "compute_threads=1", "model_thread_idle_ms=200");
  }

  /** A tiny wide & deep job, with keys of its own last. */
  static JobConfig wideAndDeep(Path dir, String... keys) {
    List<String> overrides = new ArrayList<>(tiny(dir));
    overrides.addAll(List.of(keys));
    return config("wide-and-deep", overrides.toArray(String[]::new));
  }

  /** A job of configs/ with some keys changed. */
  static JobConfig config(String name, String... keys) {
    return JobFile.load(Checkout.file("configs/" + name + ".yaml"), System.getenv(), List.of(), List.of(), List.of(keys),
        new JsonObject());
  }

  /** A public data set; where there is none the test is skipped, by the name of what is missing. */
  static Path data(String set) {
    String data = System.getProperty("regatta.data", "");
    Path dir = Path.of(data.isEmpty() ? "none" : data, set);
    Assumptions.assumeTrue(Files.isDirectory(dir), "data set " + set + " is not there: set -Dregatta.data=DIR");
    return dir;
  }
}
