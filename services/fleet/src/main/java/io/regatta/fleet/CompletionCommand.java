package io.regatta.fleet;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a script that has a shell complete Regatta's commands and options. */
@Command(name = "completion", mixinStandardHelpOptions = true,
    description = "Prints a script that has bash or zsh complete commands and options.")
final class CompletionCommand implements Callable<Integer> {

  /** Both take the same script, which sees where it is. */
  enum Shell { BASH, ZSH }

  @Spec
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "SHELL", description = "bash or zsh")
  private Shell shell;

  @Override
  public Integer call() {
    Regatta.say(spec.commandLine().getOut(), AutoComplete.bash("regatta", spec.root().commandLine()));
    return Regatta.DONE;
  }
}
