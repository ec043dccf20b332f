package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.local.Faults;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.process.Service;
import io.regatta.fleet.process.Services;
import io.regatta.fleet.role.Role;
import io.regatta.fleet.role.WordList;
import io.regatta.node.address.HostPort;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.JobCheck;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The command that runs a whole job in this JVM: over gRPC between services found through Hazelcast, or without any
 * service.
 */
@Command(name = "simulate", mixinStandardHelpOptions = true,
    description = "Runs a job with its trainers and all its services in one JVM.")
final class SimulateCommand implements Callable<Integer> {

  private static final Pattern RANK_MILLIS = Pattern.compile("(\\d{1,9})=(\\d{1,9})");

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Option(names = "--local", description = "one trainer, tables in process, no services")
  private boolean local;

  @Option(names = "--slow", paramLabel = "RANK=MS",
      description = "makes a trainer slower: adds so many milliseconds to each of its steps")
  private List<String> slow = new ArrayList<>();

  @Option(names = "--cluster", paramLabel = "HOST:PORT",
      description = "Hazelcast address of the simulation, so that 'regatta status --seeds HOST:PORT' finds it")
  private String cluster;

  @Option(names = {"--gpus", "--selected_gpus"}, paramLabel = "N,...", description = "GPUs of this machine: in the order of their ranks "
      + "each of its trainers has the next one, in turn")
  private String gpus;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile.at(result);
    if (job.given()) { // at once: the rest of the start takes seconds on a slow machine
      Report.say(out, "simulating " + job.file());
    }
    if (local) {
      List<String> more = new ArrayList<>(slow.isEmpty() ? List.of() : List.of("--slow"));
      if (cluster != null) {
        more.add("--cluster");
      }
      job.checkLocal(more);
    }
    JobConfig config = job.load(settings, regatta.program());
    RunResult run = local ? train(config) : simulate(config, delays(config));
    Report.say(out, run);
    if (result != null) {
      Report.say(out, "Result written to " + result.toAbsolutePath());
    }
    run.requireSuccess();
    return Report.DONE;
  }

  /** Announces the start, after all checks that are possible before it. */
  private void starting(String parts, JobConfig config) {
    Report.say(spec.commandLine().getOut(), "starting " + parts + ", mode " + mode(config));
  }

  private RunResult train(JobConfig config) {
    ProcessSettings here = place(settings, job.readyTimeout(), null, result, gpus, ProcessSettings.ofRole(Role.LOCAL));
    JobCheck.alone(config, regatta.program());
    starting("one trainer with tables in process", config);
    try (JobPart part = JobPart.of(here, config)) {
      return part.train(regatta.program());
    }
  }

  private static String parts(JobConfig config) {
    List<String> parts = new ArrayList<>();
    String trainers = count(config.trainers(), "trainer");
    if (config.servers() == 0) {
      parts.addAll(List.of("a rendezvous", trainers));
    } else {
      parts.add("a rendezvous, " + count(config.servers(), "server") + " with "
          + count(config.servers() * config.shards(), "shard")
          + (config.servers() > 1 ? " in all, " : ", ") + trainers);
    }
    for (Service<?> service : Services.auxiliaries()) {
      int count = service.auxiliary().count().applyAsInt(config);
      if (count > 0) {
        parts.add(count(count, service.auxiliary().launched().called()));
      }
    }
    if (config.aggregator() && config.servers() > 0) {
      parts.add("a gradient aggregator");
    }
    return WordList.and(parts) + " in this process";
  }

  private static String count(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private static String mode(JobConfig config) {
    return config.mode().id();
  }

  /** Returns the delay of each rank, ms. */
  private Map<Integer, Long> delays(JobConfig config) {
    Map<Integer, Long> delays = new TreeMap<>();
    for (String each : slow) {
      Matcher parts = RANK_MILLIS.matcher(each.strip());
      int rank = parts.matches() ? Integer.parseInt(parts.group(1)) : -1;
      if (rank < 0 || rank >= config.trainers()) {
        throw new InvalidInput("--slow " + each + ": expected RANK=MS, for example 1=50; job " + config.job()
            + " has trainers 0 to " + (config.trainers() - 1) + ", and a delay is 0 ms or more");
      }
      delays.put(rank, Long.parseLong(parts.group(2)));
    }
    return delays;
  }

  private RunResult simulate(JobConfig config, Map<Integer, Long> delays) {
    LocalCluster.Options options = LocalCluster.Options.of(config, place(settings, job.readyTimeout(), cluster, result, gpus,
        new JsonObject()));
    JobCheck.distributed(config, regatta.program());
    starting(parts(config), config);
    LocalCluster running = LocalCluster.start(options.withProgram(regatta.program()).withFaults(Faults.slow(delays)));
    try (Interrupt interrupt = Interrupt.closes(running::close)) {
      List<RunResult> all = Blocking.get(running.results());
      return all.get(0);
    } finally {
      Blocking.get(running.close());
    }
  }

  /**
   * Returns the settings of a whole job in one process.
   *
   * @param readyTimeout seconds, null: as configured
   * @param cluster its Hazelcast address, null: as configured
   */
  static ProcessSettings place(SettingsOptions settings, Integer readyTimeout, String cluster) {
    return place(settings, readyTimeout, cluster, null, null, new JsonObject());
  }

  private static ProcessSettings place(SettingsOptions settings, Integer readyTimeout, String cluster, Path result, String gpus,
      JsonObject code) {
    List<Settings.Option> given = new ArrayList<>();
    if (cluster != null) {
      SettingsOptions.add(given, "--cluster", "node.cluster.seeds", cluster);
      SettingsOptions.add(given, "--cluster", "node.cluster.port", HostPort.parse(cluster, "--cluster").port());
    }
    SettingsOptions.add(given, "--ready-timeout", "node.ready_timeout_seconds", readyTimeout);
    SettingsOptions.add(given, "--result", ProcessSettings.RESULT, result);
    SettingsOptions.add(given, "--gpus", ProcessSettings.GPUS, gpus);
    return ProcessSettings.load(settings.conf(), given, settings.sectionKeys(), code);
  }
}
