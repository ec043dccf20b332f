package io.regatta.training.rank;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.hash.Mix64;
import io.regatta.data.DataCursor;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.model.Engines;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.ReplicaGroup;
import io.regatta.training.session.ElasticPasses;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.SnapshotRun;
import io.regatta.training.snapshot.SnapshotState;
import java.util.Map;

/**
 * A trainer's part in its job's snapshots: the steps after which one is due, the state that it contributes, and the
 * cursor from which a resumed run reads. The replica that takes them has a {@link SnapshotRun}; the others send their
 * state to it. Called by the trainer after steps and, outside of them, by its {@link io.regatta.training.Worker}.
 * Belongs to the model thread.
 */
public final class TrainerSnapshots {

  private final TrainerSession session;
  private final ReplicaContext replica;
  private final JobSpec spec;
  private final String run;
  private final ReplicaValues values;
  private final TrainingPasses passes;
  private final ReplicaSteps steps;
  private final TrainingData data;
  private final Iterations iterations;
  /** Null while this replica takes no snapshots. */
  private SnapshotRun snapshotRun;

  TrainerSnapshots(ReplicaContext replica, ModelRegistration.Registered registered, ReplicaValues values, TrainingPasses passes,
      TrainingData data, Iterations iterations) {
    session = replica.session();
    this.replica = replica;
    spec = registered.client().job();
    run = registered.run();
    this.values = values;
    this.passes = passes;
    steps = passes.steps();
    this.data = data;
    this.iterations = iterations;
    if (session.job().snapshots().isOn() && replica.replica() == 0) {
      snapshotRun();
    }
  }

  private SnapshotRun snapshotRun() {
    if (snapshotRun == null) {
      ReplicaGroup group = replica.group();
      snapshotRun = new SnapshotRun(session, spec, run, group.snapshots(), this::state,
          () -> group.steps().trained(session.ranks().map(rank -> rank.passes().repeated()).orElse(0L)));
    }
    return snapshotRun;
  }

  /** Returns the state of this trainer that a run resumed from here needs. */
  private SnapshotState state() {
    Map<String, float[]> frozen = values.frozen().values();
    return session.ranks().map(RankOperations::passes).filter(ElasticPasses::isUnderWay)
        .map(passes -> new SnapshotState(frozen, passes.pass(), passes.ledger()))
        .orElseGet(() -> new SnapshotState(frozen, -1, new long[0]));
  }

  /**
   * Sends this rank's gradient state to the rank that takes the snapshot of this step. All ranks are at the same step
   * and call it, outside of other calls.
   */
  public void handOver() {
    Map<String, float[]> own = values.exchange().kept();
    if (!own.isEmpty() && session.group().isLowest()) {
      snapshotRun().handedOver(own);
    } else if (!own.isEmpty()) {
      SnapshotRun.handOver(session, own);
    }
  }

  /**
   * Reseeds the engine's random numbers as a function of seed, rank and step. The run that takes a snapshot does so at
   * its step, and the runs that resume from it do the same.
   */
  public void drawAnew() {
    drawAnew(steps.made());
  }

  /** Reseeds as at an earlier step, in which this rank did not take part. */
  void drawAnew(long step) {
    Engines.seeded(Mix64.mix(session.job().seed() + Mix64.GOLDEN * (step * session.worldSize() + session.trainer().rank())),
        () -> null);
  }

  /** Notes a step, after which a snapshot may be due. */
  void stepped() {
    long made = steps.made();
    if (session.job().snapshots().isDue(made)) {
      handOver();
      take(made, iterations.place());
      drawAnew();
    }
  }

  /** Notes a step of the others: the rank that takes the snapshots may have run out of data. */
  void othersStepped() {
    long made = replica.group().steps().steps();
    if (session.job().snapshots().isDue(made)) {
      handOver();
      take(made, data.place(made));
    }
  }

  /** Returns the next round, in sync mode. */
  private long round() {
    return replica.group().steps().made();
  }

  private void take(long made, DataCursor place) {
    if (snapshotRun != null && session.group().isLowest()) {
      snapshotRun.stepped(made, round(), passes.resumePlace(place));
    }
  }

  /**
   * Takes a snapshot after a pass over the training data, if this rank takes them. All ranks have flushed what they
   * trained, and wait until this returns.
   */
  public void passed(int pass) {
    if (snapshotRun != null) {
      snapshotRun.passed(pass, steps.forSnapshot(), round(), cursorAfterPass());
    }
  }

  /** Returns the cursor after a pass, which {@code max_steps} may have ended early; null if it is not known. */
  private DataCursor cursorAfterPass() {
    boolean sync = spec.mode().hasRounds(); // in the others each rank counts its own
    return session.job().maxSteps() == 0 || sync && !steps.areEnough() ? data.behindPass()
        : sync ? passes.resumePlace(iterations.place()) : null;
  }

  /**
   * Takes a snapshot that the program requests. All ranks have flushed what they trained, and wait until this returns.
   */
  public void asked(SnapshotKind kind) {
    snapshotRun().asked(kind, steps.forSnapshot(), round(), iterations.place());
  }

  /** Waits until the snapshots that this trainer has taken are written, or have failed. */
  public void finish() {
    if (snapshotRun != null) {
      snapshotRun.finish();
    }
  }

  /** Stops taking snapshots, without waiting for those being written. */
  public void drop() {
    if (snapshotRun != null) {
      snapshotRun.close();
      snapshotRun = null;
    }
  }
}
