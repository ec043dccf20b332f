package io.regatta.training.testing;

import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Job files that come with Regatta, with keys overridden as on the command line. */
public final class Jobs {

  private Jobs() {}

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** Returns the job of {@code configs/NAME.yaml} with {@code KEY=VALUE} over it. */
  public static JobConfig job(String name, String... overrides) throws Exception {
    Path file = Path.of(System.getProperty("regatta.root", "../../.."), "configs", name + ".yaml");
    Settings.Sources sources = Settings.Sources.NONE.withFile(file).withOverrides(List.of(overrides));
    Vertx vertx = Vertx.vertx();
    try {
      return get(Settings.load(vertx, JobConfig.class, sources));
    } finally {
      get(vertx.close());
    }
  }
}
