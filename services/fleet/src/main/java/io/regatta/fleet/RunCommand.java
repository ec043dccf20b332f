package io.regatta.fleet;

import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.result.ResultFile;
import io.regatta.trainer.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Takes this process's part in a job, whichever that is: what a user's main does when no other command is given. */
@Command(name = "run", mixinStandardHelpOptions = true,
    description = "Takes the part in a job that --role, the environment or -conf gives (fleet.role).")
final class RunCommand implements Callable<Integer> {

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Mixin
  private FleetOptions place;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile.at(result);
    if (!place.hasRole()) {
      RoleLines.say(settings.takeRole(System.getenv()), out);
    }
    Place here = place.load(settings, job.readyTimeout(), result, new JsonObject());
    JobConfig config = job.given() ? job.load(settings, regatta.program()) : null;
    try (Fleet fleet = Fleet.of(here, config, line -> Regatta.say(out, line))) {
      if (fleet.isWorker()) {
        RunResult end = fleet.train(regatta.program());
        Regatta.say(out, end);
        end.requireSuccess();
      } else {
        fleet.runServer();
      }
      return Regatta.DONE;
    }
  }
}
