package io.regatta.fleet.command;

import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.command.output.RoleLines;
import io.regatta.fleet.role.RoleEnvironment;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command that shows the effect of launchers' and schedulers' variables in this environment on a process, or all
 * errors in them.
 */
@Command(name = "env", mixinStandardHelpOptions = true,
    description = "Shows what each variable of a launcher or scheduler in this environment leads to.",
    footer = {"", "For example: TRAINING_ROLE=TRAINER PADDLE_TRAINER_ID=0 PADDLE_TRAINERS_NUM=2 "
        + "PADDLE_PSERVERS_IP_PORT_LIST=10.0.0.1:36000 regatta env"})
final class EnvCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    List<String> wrong = RoleEnvironment.wrong(System.getenv());
    if (!wrong.isEmpty()) {
      wrong.forEach(line -> spec.commandLine().getErr().println("regatta: " + line));
      return Report.BAD_INPUT;
    }
    PrintWriter out = spec.commandLine().getOut();
    RoleEnvironment role = RoleEnvironment.read(System.getenv());
    if (role.isGiven()) {
      Report.say(out, role.source());
    }
    RoleLines.table(role, out);
    return Report.DONE;
  }
}
