package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.launch.plan.LaunchedJob;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.BadArguments;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.MeetingStore;
import io.regatta.training.config.OnTrainerLost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Unmatched;

/**
 * The program that a launcher starts, and the information that can be read from it. Immutable.
 *
 * @param program a job file, a jar, or one .java file
 * @param arguments of the program: of a job file those of {@code regatta run}
 */
record LaunchedProgram(String program, List<String> arguments) {

  /** The arguments of a job file, as far as a launcher reads them. */
  @Command(name = "run")
  private static final class JobArguments {
    @Mixin
    private SettingsOptions settings;

    @Mixin
    private JobOptions job;

    @Unmatched
    private List<String> others = new ArrayList<>();
  }

  private boolean isJobFile() {
    return Settings.isFile(program);
  }

  /**
   * Refuses options of launch after a job file: they would go to {@code regatta run}, and every process would end with
   * "no such option" in its log.
   */
  void refuseOptionsOf(CommandSpec launch) {
    if (!isJobFile() || arguments.isEmpty()) {
      return;
    }
    CommandSpec run = CommandSpec.forAnnotatedObject(RunCommand.class); // the command line has the command asked for alone
    for (String argument : arguments) {
      String option = argument.split("=", 2)[0];
      if (option.startsWith("-") && launch.findOption(option) != null && run.findOption(option) == null) {
        throw new InvalidInput(option + " stands behind " + program + ", where what 'regatta run' takes stands; launch's own options "
            + "stand before the program: regatta " + launch.name() + " " + option + " ... " + program);
      }
    }
  }

  private static JobArguments parsed(Stream<String> words) {
    JobArguments given = new JobArguments();
    try {
      new CommandLine(given).parseArgs(words.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new InvalidInput(BadArguments.words(e));
    }
    return given;
  }

  /** Returns the node settings of a client of the job, from the environment and from the program's arguments. */
  NodeConfig client() {
    SettingsOptions settings = parsed(isJobFile() ? arguments.stream() : Stream.empty()).settings; // others' options are their own
    return ProcessSettings.load(settings.conf(), List.of(), settings.sectionKeys(), StatusCommand.CLIENT).node();
  }

  /** Returns what is known of a job whose processes are started on this machine. */
  LaunchedJob job() {
    return job(Path.of(program), false);
  }

  /**
   * Returns what is known of a job whose processes are started on other machines, where its settings of the node are
   * not visible.
   *
   * @param directory of this machine in which the program's path begins; null: it is not here
   */
  LaunchedJob jobElsewhere(Path directory) {
    return job(directory == null ? null : directory.resolve(program), true);
  }

  /**
   * Refuses what a process of the job would refuse before it does anything, so that it is reported once. Other programs
   * than job files use their arguments as they like.
   *
   * @param environment of that process
   */
  void check(Map<String, String> environment) {
    if (isJobFile()) {
      RunCommand.check(Stream.concat(Stream.of(program), arguments.stream()).toList(), environment);
    }
  }

  private LaunchedJob job(Path file, boolean elsewhere) {
    if (file == null || !isJobFile() || !Files.isReadable(file)) {
      return LaunchedJob.ofArguments(arguments); // a file that is not there is refused with its own words
    }
    JobArguments given = parsed(Stream.concat(Stream.of(file.toString()), arguments.stream()));
    JobConfig config = given.job.load(given.settings, null);
    List<String> node = elsewhere ? List.of() : given.settings.rendezvousArguments();
    if (!node.isEmpty()) {
      ProcessSettings.checkNode(given.settings.conf(), given.settings.sectionKeys());
    }
    MeetingStore.Kind meeting = config.collective().meeting().kind();
    if (meeting == MeetingStore.Kind.HAZELCAST) {
      throw new InvalidInput("collective.store is hazelcast, but launch gives its processes fixed endpoints and starts nothing of Hazelcast: "
          + "choose another store (docs/launching.md), or leave the key out, and the trainers meet at a rendezvous that launch starts");
    }
    return new LaunchedJob(config.shards(), !config.mode().needsServers(), config.worldSize().elastic(), meeting == MeetingStore.Kind.FILE
        ? config.collective().store() : "", node, config.mode().needsServers() && config.onTrainerLost() == OnTrainerLost.CONTINUE);
  }
}
