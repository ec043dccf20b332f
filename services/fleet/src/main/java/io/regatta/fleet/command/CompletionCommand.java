package io.regatta.fleet.command;

import io.regatta.fleet.command.output.Report;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that prints a script with which a shell completes Regatta's commands and options. */
@Command(name = "completion", mixinStandardHelpOptions = true,
    description = "Prints a script that has bash or zsh complete commands and options.")
final class CompletionCommand implements Callable<Integer> {

  /** The shells. Both take the same script, which detects in which one it runs. */
  enum Shell { BASH, ZSH }

  @Spec
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "SHELL", description = "bash or zsh")
  private Shell shell;

  /**
   * Lists of values of an option or a parameter in the script. They are names of constants, which are written in lower
   * case elsewhere.
   */
  private static final Pattern VALUES = Pattern.compile("(?m)^( *local \\w+_args=)\\((.*)\\)( # .* values)$");

  /**
   * Addition for zsh, which otherwise puts a space after the name of a directory, where the path should continue. Bash
   * uses {@code compopt}.
   */
  private static final String ZSH = """
      if [ -n "$ZSH_VERSION" ]; then
        complete -F _complete_regatta -o default -o filenames regatta
      fi""";

  @Override
  public Integer call() {
    String script = AutoComplete.bash("regatta", spec.root().commandLine());
    Report.say(spec.commandLine().getOut(), VALUES.matcher(script).replaceAll(values -> Matcher.quoteReplacement(values.group(1) + "("
        + values.group(2).toLowerCase(Locale.ROOT) + ")" + values.group(3))) + ZSH);
    return Report.DONE;
  }
}
