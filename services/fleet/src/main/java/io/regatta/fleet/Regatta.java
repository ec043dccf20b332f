package io.regatta.fleet;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.ServiceLogging;
import io.regatta.trainer.TrainingProgram;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;

import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/**
 * The command line. Owned by the main thread. Exit status: 0 done, 1 the run failed, 2 bad input, 130 after Ctrl-C.
 * Every failure is one line on standard error that begins with {@code regatta:}.
 */
@Command(name = "regatta", mixinStandardHelpOptions = true, versionProvider = Version.class,
    description = "Distributed training of DJL models on the JVM.",
    subcommands = {SimulateCommand.class, TrainCommand.class, RunCommand.class, ParityCommand.class, StatusCommand.class,
        VersionCommand.class, CommandLine.HelpCommand.class},
    footer = {"", "First steps: regatta simulate configs/wide-and-deep.yaml"})
public final class Regatta implements Runnable {

  static final int DONE = 0;
  static final int FAILED = 1;
  static final int BAD_INPUT = 2;
  private static final int TYPOS = 2;

  /** What every trainer runs; null: the class that the job names. */
  private final TrainingProgram program;

  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec;

  Regatta(TrainingProgram program) {
    this.program = program;
  }

  public static void main(String[] args) {
    ServiceLogging.use();
    System.exit(execute(null, args));
  }

  /**
   * Runs one command to its end on the calling thread.
   *
   * @param program what trainers run; null: the class that the job names
   * @return exit status
   */
  static int execute(TrainingProgram program, String... args) {
    CommandLine commandLine = new CommandLine(new Regatta(program));
    ServiceCommand.addAll(commandLine);
    commandLine.setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(Regatta::badArguments)
        .setExecutionExceptionHandler((e, failed, parsed) -> report(e, failed.getErr()));
    boolean command = args.length == 0 || commandLine.getSubcommands().containsKey(args[0])
        || commandLine.getCommandSpec().findOption(args[0]) != null;
    if (command && (args.length > 0 || program == null)) {
      return commandLine.execute(args);
    }
    String meant = args.length == 0 || Files.exists(Path.of(args[0])) ? null : nearest(commandLine, args[0]);
    if (meant != null) {
      commandLine.getErr().println("regatta: '" + args[0] + "' is neither a command nor a job file; did you mean '"
          + meant + "'? (regatta --help lists what there is)");
      return BAD_INPUT;
    }
    return commandLine.execute(withRun(args));
  }

  /** The command that a word was probably meant to be, or null. */
  private static String nearest(CommandLine commandLine, String word) {
    LevenshteinDistance distance = new LevenshteinDistance(TYPOS);
    return commandLine.getSubcommands().keySet().stream().filter(name -> distance.apply(word, name) >= 0)
        .min(Comparator.comparingInt(name -> distance.apply(word, name))).orElse(null);
  }

  /** A user's main without a command takes the part that the configuration gives it. */
  private static String[] withRun(String[] args) {
    return Stream.concat(Stream.of("run"), Stream.of(args)).toArray(String[]::new);
  }

  TrainingProgram program() {
    return program;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int badArguments(ParameterException e, String[] args) {
    String command = e.getCommandLine().getCommandSpec().qualifiedName();
    e.getCommandLine().getErr().println("regatta: " + e.getMessage() + " (" + command + " --help lists what there is)");
    return BAD_INPUT;
  }

  /** A line that its reader sees at once. Any thread. */
  static void say(PrintWriter out, Object line) {
    out.println(line);
    out.flush();
  }

  /** One line for what can be mended; the stack trace of anything else goes to the log. */
  static int report(Throwable e, PrintWriter err) {
    if (e instanceof RegattaException) {
      err.println("regatta: " + e.getMessage());
    } else {
      LoggerFactory.getLogger(Regatta.class).error("this ended the command:", e);
      err.println("regatta: " + e);
    }
    err.flush();
    return e instanceof InvalidInput ? BAD_INPUT : FAILED;
  }
}
