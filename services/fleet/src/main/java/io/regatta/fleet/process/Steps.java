package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/**
 * A run whose program is the caller's own thread: between {@link #begin} and {@link #end} the trainer's model thread
 * lends its worker to the caller and waits. Owned by the caller's thread.
 */
public final class Steps {

  private final Run run;
  private final Worker worker;
  private final CountDownLatch ended;
  private final Interrupt interrupt;

  private Steps(Run run, Worker worker, CountDownLatch ended, Interrupt interrupt) {
    this.run = run;
    this.worker = worker;
    this.ended = ended;
    this.interrupt = interrupt;
  }

  /** Starts the run and waits until this rank has joined. From here to the end, Ctrl-C cancels the run. */
  public static Steps begin(JobConfig job, Function<TrainingProgram, Run> start) {
    if (job.threads() != 1) {
      throw new InvalidInput("initWorker serves one model replica, the calling thread, but threads is " + job.threads()
          + ": set threads: 1, or run the program with Fleet.run");
    }
    Promise<Worker> handedOver = Promise.promise();
    CountDownLatch ended = new CountDownLatch(1);
    Run run = start.apply(worker -> {
      handedOver.complete(worker);
      ended.await();
    });
    run.result().onFailure(handedOver::tryFail);
    Interrupt interrupt = Interrupt.closes(run::close);
    try {
      return new Steps(run, Blocking.get(handedOver.future()), ended, interrupt);
    } catch (RuntimeException e) {
      interrupt.close();
      Blocking.get(run.close());
      throw e;
    }
  }

  /** Returns the worker that the trainer handed over. */
  public Worker worker() {
    return worker;
  }

  /** Leaves the job in order. */
  public RunResult end() {
    ended.countDown();
    try (interrupt) { // also while others are waited for
      try {
        return Blocking.get(run.result());
      } finally {
        Blocking.get(run.close());
      }
    }
  }

  /** Cancels the run. */
  public Future<Void> cancel() {
    interrupt.close();
    Future<Void> closed = run.close();
    ended.countDown();
    return closed;
  }
}
