package io.regatta.fleet;

import io.vertx.core.json.JsonObject;
import io.regatta.trainer.ResultFile;
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
    ResultFile file = ResultFile.at(result);
    Place here = place.load(settings, job.readyTimeout(), new JsonObject());
    try (Fleet fleet = Fleet.of(here, job.given() ? job.load(settings, regatta.program()) : null)) {
      if (fleet.isWorker()) {
        return SimulateCommand.finish(fleet.train(regatta.program()), file, spec.commandLine().getOut());
      }
      fleet.runServer();
      return Regatta.DONE;
    }
  }
}
