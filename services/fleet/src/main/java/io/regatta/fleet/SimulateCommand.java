package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Blocking;
import io.regatta.node.HostPort;
import io.regatta.node.Interrupt;
import io.regatta.trainer.JobConfig;
import io.regatta.trainer.LocalRun;
import io.regatta.trainer.ProgramLoader;
import io.regatta.trainer.ResultFile;
import io.regatta.trainer.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs a whole job in this JVM: over gRPC between services found through Hazelcast, or without any service. */
@Command(name = "simulate", mixinStandardHelpOptions = true,
    description = "Runs a job's rendezvous, servers and trainers in one JVM.")
final class SimulateCommand implements Callable<Integer> {

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
  private Map<Integer, Long> slow = new TreeMap<>();

  @Option(names = "--cluster", paramLabel = "HOST:PORT",
      description = "Hazelcast address of the simulation, so that 'regatta status --seeds HOST:PORT' finds it")
  private String cluster;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    ResultFile file = ResultFile.at(result);
    JobConfig config = job.load(settings, regatta.program());
    checkSlow(config);
    RunResult run = local ? LocalRun.run(config, regatta.program(), null) : simulate(config);
    return finish(run, file, spec.commandLine().getOut());
  }

  private void checkSlow(JobConfig config) {
    slow.forEach((rank, millis) -> {
      if (rank < 0 || rank >= config.trainers() || millis < 0) {
        throw new InvalidInput("--slow " + rank + "=" + millis + ": job " + config.job() + " has trainers 0 to "
            + (config.trainers() - 1) + ", and a delay is 0 ms or more");
      }
    });
  }

  private RunResult simulate(JobConfig config) {
    LocalCluster.Options options = LocalCluster.Options.of(config, place(settings, job.readyTimeout(), cluster));
    ProgramLoader.check(config, regatta.program());
    LocalCluster running = LocalCluster.start(options.withProgram(regatta.program()).withFaults(Faults.slow(slow)));
    try (Interrupt interrupt = Interrupt.closes(running::close)) {
      List<RunResult> all = Blocking.get(running.results());
      return all.get(0);
    } finally {
      Blocking.get(running.close());
    }
  }

  /**
   * Settings of a whole job in one process.
   *
   * @param readyTimeout seconds, null: as configured
   * @param cluster its Hazelcast address, null: as configured
   */
  static Place place(SettingsOptions settings, Integer readyTimeout, String cluster) {
    List<String> keys = new ArrayList<>();
    if (cluster != null) {
      keys.add("node.cluster.seeds=" + cluster);
      keys.add("node.cluster.port=" + HostPort.parse(cluster, "--cluster").port());
    }
    SettingsOptions.add(keys, "node.ready_timeout_seconds", readyTimeout);
    keys.addAll(settings.sectionKeys());
    return Place.load(settings.conf(), keys, new JsonObject());
  }

  /** Prints and writes what came out. */
  static int finish(RunResult run, ResultFile file, PrintWriter out) {
    out.println(run);
    if (file != null) {
      file.write(run);
      out.println("Result written to " + file);
    }
    out.flush();
    return Regatta.DONE;
  }
}
