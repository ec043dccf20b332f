package io.regatta.fleet.command;

import io.regatta.fleet.command.option.FleetOptions;
import io.regatta.fleet.command.option.InitOptions;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.command.output.RoleLines;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.fleet.role.RoleEnvironment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
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

/**
 * The command that trains one rank of a job on services that run elsewhere, or the whole job in process with
 * {@code --local}.
 */
@Command(name = "train", mixinStandardHelpOptions = true,
    description = "Trains one rank of a job against running services, or all of it here with --local.",
    footer = {"", "Alone: regatta train --local configs/ctr-dnn.yaml",
        "Against servers of v2's kind: regatta train --pservers=10.0.0.1,10.0.0.2 --trainer_id=0 "
            + "--num_gradient_servers=2 configs/word2vec.yaml",
        "Against services of a cluster: regatta train --seeds 10.0.0.1:5701 configs/wide-and-deep.yaml"})
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

  @Mixin
  private InitOptions init;

  @Option(names = "--local", description = "one trainer, tables in process, no services")
  private boolean local;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile.at(result);
    if (local) {
      job.checkLocal(init.ofOthers());
      RoleLines.say(settings.take(RoleEnvironment.alone(System.getenv(), init.given())), out);
    } else {
      RoleLines.say(settings.take(RoleEnvironment.read(System.getenv(), init.given())).as("trainer", "regatta train"), out);
    }
    JobConfig config = job.load(settings, regatta.program());
    ProcessSettings here = place.load(settings, job.readyTimeout(), result, code());
    if (!local) {
      here.trainerNode(config, ", or --local to train here");
    }
    try (JobPart part = JobPart.of(here, config, line -> Report.say(out, line))) {
      RunResult end = part.train(regatta.program());
      Report.say(out, end);
      end.requireSuccess();
      return Report.DONE;
    }
  }

  /** Returns the keys of a trainer whose services run elsewhere. */
  private JsonObject code() {
    JsonObject code = ProcessSettings.ofRole(local ? Role.LOCAL : Role.TRAINER);
    code.getJsonObject("fleet").put("hosts_services", false);
    return code;
  }
}
