package io.regatta.fleet.command;

import io.regatta.fleet.command.output.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** One service as a command. All arguments go to the service's own main, which knows its options. */
@Command(footer = "Options: -conf FILE, --set KEY=VALUE, --show-config, --help.")
final class ServiceCommand implements Callable<Integer> {

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Unmatched
  private List<String> arguments = new ArrayList<>();

  /** Adds those services whose names are asked for. */
  static void addTo(CommandLine commandLine, Predicate<String> asked) {
    ServiceRoles.descriptions().forEach((name, description) -> {
      if (asked.test(name)) {
        CommandLine service = new CommandLine(name.equals("pserver") ? new PserverCommand() : new ServiceCommand());
        service.getCommandSpec().usageMessage().description(description);
        commandLine.addSubcommand(name, service);
      }
    });
  }

  @Override
  public Integer call() {
    ServiceRoles.run(spec.name(), regatta.program(), arguments);
    return Report.DONE; // only after a signal: otherwise the service has ended the JVM with its own status
  }
}
