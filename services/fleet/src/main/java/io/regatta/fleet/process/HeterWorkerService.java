package io.regatta.fleet.process;

import io.regatta.fleet.launch.LauncherLink;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.heterworker.HeterWorkerConfig;
import io.regatta.heterworker.HeterWorkerMain;
import io.regatta.heterworker.HeterWorkerVerticle;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.JobCheck;
import io.vertx.core.Deployable;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The heter workers as a service of the fleet. Stateless. */
final class HeterWorkerService {

  static final Service<HeterWorkerConfig> SERVICE = new Service<>(Directory.HETER_WORKER, HeterWorkerConfig.class,
      "heter-worker",
      HeterWorkerMain.DESCRIPTION, HeterWorkerMain::run, Role.HETER_WORKER, HeterWorkerService::process,
      new Service.WholeJob<>(job -> new HeterWorkerConfig(job, -1), HeterWorkerService::ofAll,
          HeterWorkerService::verticles),
      new Service.Auxiliary<>(LaunchedRole.HETER_WORKER, "which compute the expensive part of the network",
          "computes a part of its network", "without services the network is not cut: this process computes all of it",
          job -> job.heter().workers(), HeterWorkerConfig::index, HeterWorkerConfig::port));

  private HeterWorkerService() {}

  private static Function<Node, Deployable> process(ProcessSettings settings, JobConfig job, TrainingProgram program) {
    HeterWorkerConfig worker = settings.auxiliary(SERVICE, job);
    JobCheck.computing(worker.job(), program);
    boolean endedByLauncher = worker.lifetime() == HeterWorkerConfig.Lifetime.AUTO
        && System.getenv().containsKey(LauncherLink.VARIABLE);
    HeterWorkerConfig own = endedByLauncher ? worker.withLifetime(HeterWorkerConfig.Lifetime.ENDLESS) : worker;
    return node -> new HeterWorkerVerticle(node, own, program);
  }

  private static HeterWorkerConfig ofAll(ProcessSettings settings, JobConfig job) {
    return settings.auxiliaryOfAll(SERVICE, job);
  }

  private static List<Deployable> verticles(Node node, HeterWorkerConfig section, JobConfig job,
      TrainingProgram program) {
    return IntStream.range(0, job.heter().workers())
        .<Deployable>mapToObj(i -> new HeterWorkerVerticle(node, section.with(worker -> worker.job(job).index(i)),
        program)).toList();
  }
}
