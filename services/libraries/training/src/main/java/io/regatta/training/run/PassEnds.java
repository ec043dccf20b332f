package io.regatta.training.run;

import ai.djl.training.Trainer;
import ai.djl.training.listener.TrainingListenerAdapter;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.exchange.Shrunk;
import io.regatta.training.rank.FleetTrainer;

/**
 * What a worker does behind each pass over training data, where its job wants that: the day of the tables' rows ends, and a snapshot
 * is taken. A pass is one of {@code trainFromDataset}, or else what DJL's listeners call an epoch. Belongs to the model thread.
 */
final class PassEnds extends TrainingListenerAdapter {

  private final ReplicaWorker worker;
  /** Passes so far. */
  private int passes;
  /** Whether nothing but the trainer's listeners says when one ends. */
  private boolean epochsAlone = true;
  /** That were trained when the last epoch ended. */
  private long examplesOfEpochs;
  /** Rows, behind these passes. */
  private long removed;

  PassEnds(ReplicaWorker worker) {
    this.worker = worker;
  }

  /** What {@code EasyTrain.fit} tells; so may a program whose passes the worker knows of, which have ended then. */
  @Override
  public void onEpoch(Trainer trainer) {
    FleetTrainer of = (FleetTrainer) trainer;
    if (epochsAlone) {
      ended(of, of.examples() - examplesOfEpochs);
    }
    examplesOfEpochs = of.examples();
  }

  /** Returns how many passes have ended. */
  int passes() {
    return passes;
  }

  /** From now on the worker says when a pass has ended. */
  void toldByWorker() {
    epochsAlone = false;
  }

  /**
   * A pass in which nobody had an example, behind {@code max_steps} or the place where a run goes on, is no day and no moment.
   *
   * @param examples of this replica, in the pass
   */
  void ended(FleetTrainer of, long examples) {
    int pass = passes++;
    boolean day = worker.job().shrinkEachPass();
    boolean moment = worker.job().snapshots().everyPass();
    worker.passed();
    if (!day && !moment || worker.combine("examples of the pass", new double[] {examples}, ReduceOp.SUM)[0] == 0) {
      return;
    }
    if (day) {
      endOfDay(of); // before the snapshot: the job of the next day begins with rows that have aged
    }
    if (moment) {
      worker.snapshot(of, "snapshot of pass " + pass, lowest -> lowest.passed(pass));
    }
  }

  /** Rows of the sparse tables age, and some go. */
  private void endOfDay(FleetTrainer of) {
    Shrunk shrunk = worker.shrink(of, true);
    removed += shrunk.removed();
    worker.report("rows_removed", removed);
    worker.progress().line(shrunk.byScore() + " rows removed for their score, " + shrunk.unseen() + " unseen, " + shrunk.expired()
        + " expired, " + shrunk.left() + " left");
  }
}
