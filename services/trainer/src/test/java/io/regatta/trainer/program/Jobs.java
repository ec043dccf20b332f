package io.regatta.trainer.program;

import io.regatta.node.settings.Settings;
import io.regatta.trainer.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Job files that come with Regatta, with keys overridden as on the command line. */
final class Jobs {

  private Jobs() {}

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  static JobConfig job(String name, String... overrides) throws Exception {
    Path file = Path.of(System.getProperty("regatta.root", "../.."), "configs", name + ".yaml");
    Settings.Sources sources = Settings.Sources.NONE.withFile(file).withOverrides(List.of(overrides));
    Vertx vertx = Vertx.vertx();
    try {
      return get(Settings.load(vertx, JobConfig.class, sources));
    } finally {
      get(vertx.close());
    }
  }
}
