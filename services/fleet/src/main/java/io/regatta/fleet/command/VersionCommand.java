package io.regatta.fleet.command;

import io.regatta.fleet.command.output.Installation;
import io.regatta.fleet.command.output.Report;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(name = "version", mixinStandardHelpOptions = true, description = "Prints the versions of all parts, the engine's native library, and what the machine has.")
final class VersionCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    Installation.lines().forEach(line -> Report.say(spec.commandLine().getOut(), line));
    return Report.DONE;
  }
}
