package io.regatta.fleet;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.rank.FleetTrainer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program that trains the model of {@link LineProgram} pass after pass until somebody stops it. All ranks, which are
 * in one JVM, then end after the same pass. Thread-safe.
 */
final class SteppingProgram implements TrainingProgram {

  /** Passes that the rank which is ahead has begun. Guarded by this, as what follows. */
  private long begun;
  /** Steps that rank 0 has made. */
  private long made;
  /** No rank begins a pass after this one. */
  private long last;
  private long slowestNanos;
  private long lastNanos = System.nanoTime();

  /**
   * Creates a program that ends by itself.
   *
   * @param passes of each rank over its data
   */
  SteppingProgram(long passes) {
    last = passes;
  }

  /** Creates a program that trains until {@link #stop}. */
  static SteppingProgram endless() {
    return new SteppingProgram(Long.MAX_VALUE);
  }

  @Override
  public void run(Worker worker) throws Exception {
    try (Model model = Model.newInstance("line")) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
        trainer.initialize(new Shape(1, 1));
        ArrayDataset points = LineProgram.points(trainer.getManager(), worker.job().batchSize());
        for (long pass = 1; begins(pass); pass++) {
          for (Batch batch : trainer.iterateDataset(worker.shard(points))) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
            made(worker.rank());
          }
          trainer.notifyListeners(listener -> listener.onEpoch(trainer));
        }
        worker.report("loss", trainer.getTrainingResult().getTrainLoss());
      }
    }
  }

  private synchronized boolean begins(long pass) {
    if (pass <= last) {
      begun = Math.max(begun, pass);
    }
    return pass <= last;
  }

  private synchronized void made(int rank) {
    if (rank == 0) {
      long now = System.nanoTime();
      slowestNanos = Math.max(slowestNanos, now - lastNanos);
      lastNanos = now;
      made++;
      notifyAll();
    }
  }

  /** Lets all ranks end after the pass that the first of them is in. Returns how many passes each makes. */
  synchronized long stop() {
    last = Math.min(last, begun);
    notifyAll();
    return last;
  }

  /** Returns how many steps rank 0 has made. */
  synchronized long made() {
    return made;
  }

  /** Returns the time of the slowest step of rank 0 since this was last asked, the one that it is in included. */
  synchronized long slowestMillis() {
    long now = System.nanoTime();
    long slowest = Math.max(slowestNanos, now - lastNanos);
    slowestNanos = 0;
    return TimeUnit.NANOSECONDS.toMillis(slowest);
  }

  /**
   * Waits until rank 0 has made this number of steps.
   *
   * @throws TimeoutException if it has not by then, or the program was stopped
   */
  synchronized void await(long steps, long millis) throws InterruptedException, TimeoutException {
    for (long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis); made < steps;) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0 || last != Long.MAX_VALUE) {
        throw new TimeoutException("rank 0 has made " + made + " of " + steps + " steps in " + millis + " ms");
      }
      wait(left);
    }
  }
}
