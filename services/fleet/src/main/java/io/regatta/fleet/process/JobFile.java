package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.PlainVertx;
import io.regatta.node.settings.EffectiveConfig;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A reader of a job: file, environment, system properties, command line, code; a later source takes precedence. Blocks
 * the caller, which is the main thread.
 */
public final class JobFile {

  private JobFile() {}

  /**
   * Reads a job.
   *
   * @param file .yaml, .yml or .json; null if the code gives everything
   * @param environment variables by name
   * @param variables keys that follow from environment variables of launchers and schedulers
   * @param options options of the command line that stand for keys
   * @param overrides {@code key=value} each
   * @param code values given by the program
   */
  public static JobConfig load(Path file, Map<String, String> environment, List<Settings.Option> variables, List<Settings.Option> options,
      List<String> overrides, JsonObject code) {
    if (file != null && Files.isDirectory(file)) {
      throw new InvalidInput("job file " + file + " is a directory: give the path of a job, for example "
          + "configs/wide-and-deep.yaml");
    }
    if (file != null && !Files.isReadable(file)) {
      throw new InvalidInput("job file " + file + " "
          + (Files.exists(file) ? "cannot be read: check its permissions" : "does not exist: give the path of a job, for "
          + "example configs/wide-and-deep.yaml"));
    }
    return load(Schema.of(JobConfig.class).beside(ProcessSettings.sections()),
        Settings.Sources.ofProcess(file, options, overrides).withEnvironment(environment).withVariables(variables).withCode(code)
            .withTranslation(AsyncConfigs::translate))
            .bind(JobConfig.class);
  }

  /** Reads the configuration before there is a cluster, therefore with a small Vertx of its own. */
  static EffectiveConfig load(Schema schema, Settings.Sources sources) {
    Vertx reader = Vertx.vertx(PlainVertx.options().setEventLoopPoolSize(1));
    try {
      return Blocking.get(Settings.load(reader, schema, sources));
    } finally {
      Blocking.get(reader.close());
    }
  }
}
