package io.regatta.fleet.command;

import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.local.Parity;
import io.regatta.node.process.Interrupt;
import io.regatta.node.process.ServiceLogging;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The command that shows whether distribution changes what a job computes, and by how much. */
@Command(name = "parity", mixinStandardHelpOptions = true, description = {
    "Trains a job alone, with one trainer, with several, and on 1, 2 and 5 shards, and compares the parameters.",
    "Ends with status 1 if they differ more than they may."})
final class ParityCommand implements Callable<Integer> {

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Parity parity = new Parity(changes -> job.load(settings, regatta.program(), changes), regatta.program(),
        config -> LocalCluster.Options.of(config, SimulateCommand.place(settings, job.readyTimeout(), null)));
    List<Parity.Check> checks;
    try (ServiceLogging.Quiet quiet = ServiceLogging.quiet(System.getenv()); // a dozen clusters, one after another
        Interrupt interrupt = Interrupt.closes(parity::stop)) {
      checks = parity.run(check -> {
        out.println(check);
        out.flush();
      });
    }
    long failed = checks.stream().filter(check -> !check.passed()).count();
    out.println(failed == 0 ? "parity holds" : failed + " of " + checks.size() + " checks failed: the run depends on "
        + "how it is distributed");
    out.flush();
    return failed == 0 ? Report.DONE : Report.FAILED;
  }
}
