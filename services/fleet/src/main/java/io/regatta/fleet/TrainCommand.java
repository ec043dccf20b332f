package io.regatta.fleet;

import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.result.ResultFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Trains one rank of a job on services that run elsewhere, or the whole job in process with {@code --local}. */
@Command(name = "train", mixinStandardHelpOptions = true,
    description = "Trains one rank of a job against running services, or all of it here with --local.")
final class TrainCommand implements Callable<Integer> {

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

  @Option(names = "--local", description = "one trainer, tables in process, no services")
  private boolean local;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile.at(result);
    if (local) {
      job.checkLocal(List.of());
    }
    if (!local) {
      RoleLines.say(settings.takeRole(System.getenv()).as("trainer", "regatta train"), out);
    }
    JobConfig config = job.load(settings, regatta.program());
    Place here = place.load(settings, job.readyTimeout(), result, Fleet.role(local ? Role.LOCAL : Role.TRAINER));
    if (!local) {
      here.node().requireOthers(", or --local to train here");
    }
    try (Fleet fleet = Fleet.of(here, config, line -> Regatta.say(out, line))) {
      Regatta.say(out, fleet.train(regatta.program()));
      return Regatta.DONE;
    }
  }
}
