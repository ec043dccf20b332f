package io.regatta.fleet.command;

import io.regatta.fleet.command.option.GivenProgram;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.command.output.Version;
import io.regatta.fleet.command.table.AnalyzeCommand;
import io.regatta.fleet.command.table.ExplainCommand;
import io.regatta.fleet.command.table.InitCommand;
import io.regatta.fleet.command.tune.TuneCommand;
import io.regatta.fleet.launch.LauncherLink;
import io.regatta.node.process.BadArguments;
import io.regatta.node.process.ServiceLogging;
import io.regatta.training.TrainingProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/**
 * The command line. Owned by the main thread. Exit status: 0 done, 1 the run failed, 2 bad input, 130 after Ctrl-C, 143
 * after SIGTERM. Every failure is one line on standard error that begins with {@code regatta:}.
 */
@Command(name = "regatta", mixinStandardHelpOptions = true, versionProvider = Version.class,
    description = "Distributed training of DJL models on the JVM.",
    footer = {"", "First steps: regatta simulate configs/wide-and-deep.yaml"})
public final class Regatta implements Runnable, GivenProgram {

  /** The commands beside the services' in the order of the help. */
  private static final List<Class<?>> COMMANDS = List.of(SimulateCommand.class, TrainCommand.class, RunCommand.class,
      ParityCommand.class, StatusCommand.class, CheckpointCommand.class, PrepareCommand.class, InitCommand.class, AnalyzeCommand.class,
      TuneCommand.class, PredictCommand.class, ExplainCommand.class, EnvCommand.class, LaunchCommand.class, HeterAdviceCommand.class,
      MasterCommand.class, VersionCommand.class,
      CompletionCommand.class,
      CommandLine.HelpCommand.class);

  /** The commands that read the others. */
  private static final Set<Class<?>> OF_ALL = Set.of(CompletionCommand.class, CommandLine.HelpCommand.class);

  /** The program that every trainer runs; null: the class that the job names. */
  private final TrainingProgram program;

  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec;

  Regatta(TrainingProgram program) {
    this.program = program;
  }

  /** Runs one command, and ends the process with its exit status. */
  public static void main(String[] args) {
    ServiceLogging.use();
    System.exit(execute(null, args));
  }

  /**
   * Runs one command to its end on the calling thread.
   *
   * @param program that trainers run; null: the class that the job names
   * @return exit status
   */
  public static int execute(TrainingProgram program, String... args) {
    LauncherLink.follow(System.getenv());
    CommandLine commandLine = commandLine(program, args);
    boolean command = args.length == 0 || commandLine.getSubcommands().containsKey(args[0])
        || commandLine.getCommandSpec().findOption(args[0]) != null;
    if (command && (args.length > 0 || program == null)) {
      return commandLine.execute(args);
    }
    String slip = args.length == 0 || Files.exists(Path.of(args[0])) ? null : slip(commandLine, args);
    if (slip != null) {
      commandLine.getErr().println("regatta: " + slip + " (regatta --help lists what there is)");
      return Report.BAD_INPUT;
    }
    return commandLine.execute(withRun(args));
  }

  /**
   * Returns the command that the arguments begin with, or all if they begin with none, with the examples at the end of
   * their help. One alone spares a start the reflection over the options of all the others.
   */
  static CommandLine commandLine(TrainingProgram program, String... args) {
    Predicate<String> asked = args.length == 0 ? name -> true : args[0]::equals;
    CommandLine commandLine = new CommandLine(new Regatta(program));
    add(commandLine, asked);
    if (commandLine.getSubcommands().isEmpty()) {
      add(commandLine, name -> true);
    }
    CommandLine launch = commandLine.getSubcommands().get("launch");
    if (launch != null) {
      launch.setStopAtPositional(true); // what follows the program is the program's
    }
    CommandExamples.addTo(commandLine);
    return commandLine.setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(Regatta::badArguments)
        .setExecutionExceptionHandler((e, failed, parsed) -> Report.failure(e, failed.getErr()));
  }

  private static void add(CommandLine commandLine, Predicate<String> asked) {
    for (Class<?> command : COMMANDS) {
      String name = command.getAnnotation(Command.class).name();
      if (asked.test(name) && !(OF_ALL.contains(command) && commandLine.getSubcommands().isEmpty())) {
        commandLine.addSubcommand(name, command);
      }
    }
    ServiceCommand.addTo(commandLine, asked);
  }

  /** Returns the words about a command that is misspelt or comes after options; null if there is none. */
  private static String slip(CommandLine commandLine, String[] args) {
    Set<String> commands = commandLine.getSubcommands().keySet();
    if (!args[0].startsWith("-")) {
      return BadArguments.nearest(commands, args[0]).map(meant -> "'" + args[0] + "' is neither a command nor a job file; "
          + "the nearest command is '" + meant + "'").orElse(null);
    }
    for (int i = 1; i < args.length; i++) {
      if (commands.contains(args[i]) && !args[i - 1].equals("--role") && !Files.exists(Path.of(args[i]))) {
        return "options come after the command: regatta " + args[i] + " ... " + args[0] + " ...";
      }
    }
    return null;
  }

  /** Adds the command {@code run}: a user's main without a command takes the part that the configuration gives it. */
  private static String[] withRun(String[] args) {
    return Stream.concat(Stream.of("run"), Stream.of(args)).toArray(String[]::new);
  }

  @Override
  public TrainingProgram program() {
    return program;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int badArguments(ParameterException e, String[] args) {
    String command = e.getCommandLine().getCommandSpec().qualifiedName();
    e.getCommandLine().getErr().println("regatta: " + BadArguments.words(e) + " (" + command + " --help lists what there is)");
    return Report.BAD_INPUT;
  }
}
