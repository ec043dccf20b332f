package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.Role;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.JobCheck;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of this process in a job, whichever its role is: it checks the settings of what the role runs, starts it and waits for its
 * end. Owned by the thread that made it; {@link #close} may be called from any thread.
 */
public final class JobPart implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JobPart.class);

  private final ProcessSettings place;
  private final JobConfig job;
  private final Consumer<String> ready;
  private volatile ServerProcess server;

  private JobPart(ProcessSettings place, JobConfig job, Consumer<String> ready) {
    this.place = place;
    this.job = place.partIn(job != null ? job : place.job());
    this.ready = ready;
  }

  /**
   * Returns a part of which nothing has started.
   *
   * @param job null: the one of the settings, if they have one
   */
  public static JobPart of(ProcessSettings place, JobConfig job) {
    return of(place, job, line -> { });
  }

  /**
   * Returns a part of which nothing has started.
   *
   * @param job null: the one of the settings, if they have one
   * @param ready gets one line when this process serves or trains as a part of a cluster
   */
  public static JobPart of(ProcessSettings place, JobConfig job, Consumer<String> ready) {
    return new JobPart(place, job, ready);
  }

  /** Returns what this process does in the job. */
  public Role role() {
    return place.fleet().role();
  }

  /** Returns true for a trainer, and for a process that runs the job alone. */
  public boolean isWorker() {
    return role() == Role.TRAINER || role() == Role.LOCAL;
  }

  /** Returns the job as configured. */
  public JobConfig job() {
    if (job == null) {
      throw new InvalidInput("no job was given: name a job file on the command line or in Fleet.builder().job(file)");
    }
    return job;
  }

  /** Returns this trainer's rank; -1 if it is not a trainer, or asks for no particular rank. */
  public int workerIndex() {
    return role() == Role.LOCAL ? 0 : role() == Role.TRAINER ? place.trainer(job()).rank() : -1;
  }

  /** Returns this server's index; -1 if it is not a server or takes any index. */
  public int serverIndex() {
    return role() == Role.PSERVER ? place.parameterServer(job).index()
        : Services.auxiliaries().stream().filter(service -> service.role() == role()).mapToInt(this::index).findFirst()
        .orElse(-1);
  }

  private <C extends Record> int index(Service<C> auxiliary) {
    return auxiliary.auxiliary().index().applyAsInt(place.auxiliary(auxiliary, job));
  }

  /** Returns the control ports of the servers by index, as given; empty: they are found in the directory. */
  public List<String> serverEndpoints() {
    return place.fleet().serverEndpoints();
  }

  /**
   * Checks everything that {@link #start} and {@link #serve} check before they start, and starts nothing. The program is
   * the one that the job names.
   */
  public void check() {
    if (role() != Role.LOCAL) {
      Node.refuseOpenPorts(place.node(), isWorker() ? Directory.TRAINER : ServerProcess.service(role()),
          PublishedAddress.choose(place.node().cluster().address(), List.of()).address()); // seeds are not asked yet
    }
    if (!isWorker()) {
      ServerProcess.check(place, job, null);
    } else if (role() == Role.LOCAL) {
      JobCheck.device(job(), place.gpus(job()));
      JobCheck.alone(job(), null);
    } else {
      JobConfig run = job();
      TrainerConfig trainer = place.trainer(run);
      place.trainerNode(run, ", or role local to train here");
      place.hosted(run);
      if (!run.isOverStore()) {
        place.rendezvous(); // of this job, wherever it is
      }
      JobCheck.device(run, place.gpus(run));
      JobCheck.distributed(run, null);
    }
  }

  /** Starts the program on this rank, on model threads of its own. */
  public Run start(TrainingProgram program) {
    if (!isWorker()) {
      throw new InvalidInput("train, initWorker: this process is a " + place.fleet().roleName() + "; call runServer");
    }
    if (role() == Role.LOCAL) {
      Services.auxiliaries().forEach(service -> noteAbsent(service.auxiliary()));
      return LocalProcess.start(job(), program, place.resultFile(), place.gpus(job()));
    }
    JobConfig run = RunsOfProcess.next(job());
    TrainerConfig trainer = place.trainer(run);
    NodeConfig node = place.trainerNode(run, ", or role local to train here");
    JobCheck.distributed(run, program);
    TrainerProcess process = TrainerProcess.start(node, place.hosted(run), trainer, program, ready);
    process.result().onSuccess(done -> RunsOfProcess.ended(job()));
    return process;
  }

  /**
   * Logs that this process, which runs the job alone, has none of these auxiliary services although the job has some.
   */
  private void noteAbsent(Service.Auxiliary<?> auxiliary) {
    int count = auxiliary.count().applyAsInt(job());
    if (count > 0) {
      LOG.info("job {}: {} is {}, but {}", job().job(), auxiliary.launched().countKey(), count, auxiliary.alone());
    }
  }

  /**
   * Runs the program on this rank to its end. The calling thread waits; Ctrl-C gives the run up.
   *
   * @throws io.regatta.core.error.RegattaException.RunEnded if the run that this process belongs to has ended with success already
   */
  public RunResult train(TrainingProgram program) {
    Run run = start(program);
    try (Interrupt interrupt = Interrupt.closes(run::close)) { // also while others are waited for
      try {
        return Blocking.get(run.result());
      } finally {
        Blocking.get(run.close());
      }
    }
  }

  /**
   * Runs this process's service until {@link #close}, Ctrl-C, SIGTERM or, for a server of a known number of trainers, until these
   * have closed. The calling thread waits.
   *
   * @param program of a service that computes; null: the job's
   * @throws io.regatta.core.error.RegattaException.PeerLost if such a server has ended because its trainers have closed, and none of
   *     them has ended its run with success
   */
  public void serve(TrainingProgram program) {
    server = ServerProcess.start(place, job, program, ready);
    server.serve();
  }

  /** Ends the service that still runs, if there is one. */
  @Override
  public void close() {
    ServerProcess running = server;
    if (running != null) {
      Blocking.get(running.close());
    }
  }
}
