package io.regatta.training.run;

import ai.djl.training.Trainer;
import ai.djl.training.listener.TrainingListenerAdapter;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.exchange.Shrunk;
import io.regatta.training.rank.FleetTrainer;

/**
 * A worker's actions after each pass over training data, if the job requests them: the end of the tables' day, and a
 * snapshot. A pass is one call of {@code trainFromDataset}, or else an epoch of DJL's listeners. Belongs to the model
 * thread.
 */
final class PassEnds extends TrainingListenerAdapter {

  private final ReplicaWorker worker;
  /** Passes so far. */
  private int passes;
  /** True if only the trainer's listeners notify of the end of a pass. */
  private boolean epochsAlone = true;
  /** Examples that were trained when the last epoch ended. */
  private long examplesOfEpochs;
  /** Rows removed so far. */
  private long removed;

  PassEnds(ReplicaWorker worker) {
    this.worker = worker;
  }

  /**
   * Notes the end of an epoch of {@code EasyTrain.fit}. A program whose passes the worker knows may call it too; such a
   * pass has already ended.
   */
  @Override
  public void onEpoch(Trainer trainer) {
    FleetTrainer of = (FleetTrainer) trainer;
    if (epochsAlone) {
      ended(of, of.examples() - examplesOfEpochs);
    }
    examplesOfEpochs = of.examples();
  }

  /** Returns the number of passes that have ended. */
  int passes() {
    return passes;
  }

  /** Notes that from now on the worker notifies of the end of a pass. */
  void toldByWorker() {
    epochsAlone = false;
  }

  /**
   * Ends a pass. A pass without examples on any rank, after {@code max_steps} or before the position where a run
   * resumes, neither ends a day nor takes a snapshot.
   *
   * @param examples of this replica, in the pass
   */
  void ended(FleetTrainer of, long examples) {
    int pass = passes++;
    boolean day = worker.job().shrinkEachPass();
    boolean takesSnapshot = worker.job().snapshots().everyPass();
    worker.passed();
    if (!day && !takesSnapshot || worker.combine("examples of the pass", new double[] {examples}, ReduceOp.SUM)[0] == 0) {
      return;
    }
    if (day) {
      endOfDay(of); // before the snapshot: the job of the next day begins with rows that have aged
    }
    if (takesSnapshot) {
      worker.snapshot(of, "snapshot of pass " + pass, lowest -> lowest.passed(pass));
    }
  }

  /** Ends the day of the sparse tables: rows age, and some are removed. */
  private void endOfDay(FleetTrainer of) {
    Shrunk shrunk = worker.shrink(of, true);
    removed += shrunk.removed();
    worker.report("rows_removed", removed);
    worker.progress().line(shrunk.byScore() + " rows removed for their score, " + shrunk.unseen() + " unseen, " + shrunk.expired()
        + " expired, " + shrunk.left() + " left");
  }
}
