package io.regatta.fleet;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.exchange.Shrunk;
import io.regatta.fleet.command.Regatta;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.Steps;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.ServiceLogging;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import java.nio.file.Path;
import java.util.List;

/**
 * The entry to distributed training: one program, whatever the role of this process. A program uses it as a whole:
 *
 * <pre>{@code System.exit(Fleet.run(args, worker -> { ... }));}</pre>
 *
 * <p>The command line (or the environment, or a file) then says whether the job runs alone, simulated, or as one role
 * of a cluster. A program that keeps its main thread to itself uses single steps, from {@link #builder} to {@link
 * #stopWorker}. The role of this process is given by code, command line, environment or file; the earlier one wins.
 *
 * <p>A fleet belongs to the thread that made it; {@link #close} may be called from any thread.
 */
public final class Fleet implements AutoCloseable {

  private final JobPart part;
  private volatile Steps steps;
  /** The reason why there was nothing to join; null: there was, or {@link #tryJoin} has not been called. */
  private RunEnded late;

  Fleet(JobPart part) {
    this.part = part;
  }

  /**
   * Runs this program as the command line says: {@code simulate JOB}, {@code train JOB}, {@code parity JOB}, a
   * service's role. With a job file alone, it does what {@code fleet.role} says. The calling thread waits.
   *
   * @return exit status for {@link System#exit}: 0 done, 1 failed, 2 bad input; failures are printed as one line
   */
  public static int run(String[] args, TrainingProgram program) {
    ServiceLogging.useUnlessGiven();
    return Regatta.execute(program, args);
  }

  /**
   * Returns a builder of a fleet described in code; what the code leaves out comes from arguments, environment or
   * files.
   */
  public static FleetBuilder builder() {
    ServiceLogging.useUnlessGiven();
    return new FleetBuilder();
  }

  /** Returns a fleet as {@link #builder()} does with nothing but a command line. */
  public static Fleet init(String... args) {
    return builder().args(args).init();
  }

  public Role role() {
    return part.role();
  }

  /** Returns true for a parameter server and, as in PaddlePaddle, for a heter worker: both call {@link #runServer}. */
  public boolean isServer() {
    return role() == Role.PSERVER || LaunchedRole.auxiliaries().stream()
        .anyMatch(auxiliary -> auxiliary.role() == role());
  }

  /** Returns true for a trainer, and for a process that runs the job alone. */
  public boolean isWorker() {
    return part.isWorker();
  }

  public boolean isFirstWorker() {
    return isWorker() && workerIndex() == 0;
  }

  /** Returns this trainer's rank; -1 if it is not a trainer, or has not joined and asked for no particular rank. */
  public int workerIndex() {
    return steps == null ? part.workerIndex() : steps.worker().rank();
  }

  public int workerNum() {
    return role() == Role.LOCAL ? 1 : job().trainers();
  }

  /** Returns the endpoints that the trainers announced, by rank; known once this one has joined. */
  public List<String> workerEndpoints() {
    return steps == null ? List.of() : steps.worker().workerEndpoints();
  }

  /** Returns this server's index among those of its kind; -1 if it is not a server or takes any index. */
  public int serverIndex() {
    return part.serverIndex();
  }

  public int serverNum() {
    return role() == Role.LOCAL ? 0 : part.serverEndpoints().isEmpty() ? job().servers() : part.serverEndpoints().size();
  }

  /** Returns the control ports of the servers by index: as given, or as found once this trainer has joined. */
  public List<String> serverEndpoints() {
    return steps == null ? part.serverEndpoints() : steps.worker().serverEndpoints();
  }

  /** Returns the job as configured. */
  public JobConfig job() {
    return part.job();
  }

  /**
   * Runs the program on this rank to its end, on model threads of its own, and leaves. The calling thread waits. If the
   * run that this process belongs to ({@code run_id}) has ended with success already, the program is not run. The
   * result is then {@link RunResult#isLate late}, and the process should end with status 0.
   */
  public RunResult train(TrainingProgram program) {
    try {
      return part.train(program);
    } catch (RunEnded e) {
      return late(e);
    }
  }

  private RunResult late(RunEnded why) {
    return RunResult.late(job().job(), job().mode().id(), job().seed(), why.getMessage());
  }

  /**
   * Runs this process's service until {@link #close}, Ctrl-C, SIGTERM or, for a server of a known number of trainers, until these
   * have closed. The calling thread waits.
   *
   * @throws io.regatta.core.error.RegattaException.PeerLost if such a server has ended because its trainers have closed, and none of
   *     them has ended its run with success
   */
  public void runServer() {
    part.serve(null);
  }

  /**
   * Runs this process's service as {@link #runServer()} does. A heter worker computes its part of this program's
   * network; other services need no program.
   */
  public void runServer(TrainingProgram program) {
    part.serve(program);
  }

  /**
   * Joins the job as a trainer. From here to {@link #stopWorker} the calling thread is the model thread: it builds,
   * trains and closes its models, and calls the worker.
   *
   * @throws RunEnded if the run that this process belongs to ({@code run_id}) has ended with success already; a program that may be
   *     started again calls {@link #tryJoin} first
   */
  public Worker initWorker() {
    if (!tryJoin()) {
      throw late;
    }
    return steps.worker();
  }

  /**
   * Joins the job as {@link #initWorker} does, unless the run that this process belongs to ({@code run_id}) has ended
   * with success already. Waits until all trainers are there. Once joined, does nothing.
   *
   * @return false if the run has ended. A program then trains nothing and ends with status 0; {@link #stopWorker}
   *     returns a {@link RunResult#isLate late} result
   */
  public boolean tryJoin() {
    if (!isWorker()) {
      throw new InvalidInput("initWorker, tryJoin: this process is a " + role().configName()
          + "; call runServer");
    }
    if (steps == null && late == null) {
      try {
        steps = Steps.begin(job(), part::start);
      } catch (RunEnded e) {
        late = e;
      }
    }
    return late == null;
  }

  /** Returns when all trainers have called it as often as this one. */
  public void barrier() {
    joined("barrier").barrier();
  }

  /** Combines small host values over all trainers in rank order; all get the same bits. */
  public double[] allReduce(double[] values, ReduceOp op) {
    return joined("allReduce").allReduce(values, op);
  }

  /** Ages rows of the sparse tables and removes old ones, see {@link Worker#shrink}; all trainers must call it. */
  public Shrunk shrink(FleetTrainer trainer, boolean endOfDay) {
    return joined("shrink").shrink(trainer, endOfDay);
  }

  /** Saves all parameters in {@code dir}; all trainers must call it, and the one with the lowest rank writes. */
  public Path save(FleetTrainer trainer, Path dir) {
    return joined("save").save(trainer, dir);
  }

  /** Returns the shard map of the servers, see {@link Worker#serverShardMap}; known once a trainer is initialized. */
  public String serverShardMap() {
    return joined("serverShardMap").serverShardMap();
  }

  private Worker joined(String step) {
    if (steps == null) {
      throw new InvalidInput(step + ": call initWorker first");
    }
    return steps.worker();
  }

  /** Ends this trainer's run: it leaves every server, which frees its state there at once. */
  public RunResult stopWorker() {
    if (late != null) {
      return late(late);
    }
    joined("stopWorker");
    Steps ending = steps;
    steps = null;
    return ending.end();
  }

  /** Ends everything that still runs. */
  @Override
  public void close() {
    part.close();
    Steps open = steps;
    if (open != null) {
      Blocking.get(open.cancel());
    }
  }
}
