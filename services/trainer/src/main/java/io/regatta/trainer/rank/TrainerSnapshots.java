package io.regatta.trainer.rank;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.hash.Mix64;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.trainer.data.DataCursor;
import io.regatta.trainer.model.Engines;
import io.regatta.trainer.replica.ReplicaContext;
import io.regatta.trainer.replica.ReplicaGroup;
import io.regatta.trainer.session.ElasticPasses;
import io.regatta.trainer.session.RankOperations;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.snapshot.SnapshotRun;
import io.regatta.trainer.snapshot.SnapshotState;
import java.util.Map;

/**
 * What a trainer does for its job's snapshots: behind which steps one is due, what of its own goes into it, and from where on the data
 * are read by a run that goes on from it. The replica that takes them has a {@link SnapshotRun}; all others hand over what they
 * keep. Called by the trainer behind steps and, outside of them, by its {@link io.regatta.trainer.Worker}. Belongs to the model
 * thread.
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
  /** Null as long as this replica takes none. */
  private SnapshotRun taken;

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
      taken();
    }
  }

  private SnapshotRun taken() {
    if (taken == null) {
      ReplicaGroup group = replica.group();
      taken = new SnapshotRun(session, spec, run, group.snapshots(), this::kept,
          () -> group.steps().trained(session.ranks().map(rank -> rank.passes().repeated()).orElse(0L)));
    }
    return taken;
  }

  /** What of this trainer's own a run that goes on from here needs. */
  private SnapshotState kept() {
    Map<String, float[]> frozen = values.frozen().values();
    return session.ranks().map(RankOperations::passes).filter(ElasticPasses::isUnderWay)
        .map(passes -> new SnapshotState(frozen, passes.pass(), passes.ledger()))
        .orElseGet(() -> new SnapshotState(frozen, -1, new long[0]));
  }

  /**
   * All ranks are at this step, and one takes a snapshot next, to which each hands over what it keeps of gradients. All ranks call it,
   * outside of other calls.
   */
  public void handOver() {
    Map<String, float[]> own = values.exchange().kept();
    if (!own.isEmpty() && session.group().isLowest()) {
      taken().handedOver(own);
    } else if (!own.isEmpty()) {
      SnapshotRun.handOver(session, own);
    }
  }

  /**
   * The engine's random numbers from here on are a function of seed, rank and step: drawn at the step of each snapshot by
   * the run that takes it, and by those that go on from it.
   */
  public void drawAnew() {
    drawAnew(steps.made());
  }

  /** The same as at an earlier step, which this rank was not in. */
  void drawAnew(long step) {
    Engines.seeded(Mix64.mix(session.job().seed() + Mix64.GOLDEN * (step * session.worldSize() + session.trainer().rank())),
        () -> null);
  }

  /** A step has been made, behind which a snapshot may be due. */
  void stepped() {
    long made = steps.made();
    if (session.job().snapshots().isDue(made)) {
      handOver();
      take(made, iterations.place());
      drawAnew();
    }
  }

  /** The others have made one; who takes the snapshots may have run out of data. */
  void othersStepped() {
    long made = replica.group().steps().steps();
    if (session.job().snapshots().isDue(made)) {
      handOver();
      take(made, data.place(made));
    }
  }

  /** The round that comes next, in sync mode. */
  private long round() {
    return replica.group().steps().made();
  }

  private void take(long made, DataCursor place) {
    if (taken != null && session.group().isLowest()) {
      taken.stepped(made, round(), passes.told(place));
    }
  }

  /**
   * A pass over the training data is over: takes a snapshot behind it if this rank is to. All ranks have handed in what they
   * trained, and wait until this returns.
   */
  public void passed(int pass) {
    if (taken != null) {
      taken.passed(pass, steps.forSnapshot(), round(), behindPass());
    }
  }

  /** Where reading goes on behind a pass, which {@code max_steps} may have ended before its end; null if it is not known. */
  private DataCursor behindPass() {
    boolean sync = spec.mode().hasRounds(); // in the others each rank counts its own
    return session.job().maxSteps() == 0 || sync && !steps.areEnough() ? data.behindPass()
        : sync ? passes.told(iterations.place()) : null;
  }

  /** Takes a snapshot that the program asks for. All ranks have handed in what they trained, and wait until this returns. */
  public void asked(SnapshotKind kind) {
    taken().asked(kind, steps.forSnapshot(), round(), iterations.place());
  }

  /** Waits until the snapshots that this trainer has taken are written, or have failed. */
  public void finish() {
    if (taken != null) {
      taken.finish();
    }
  }

  /** Takes no more snapshots, and waits for none. */
  public void drop() {
    if (taken != null) {
      taken.close();
      taken = null;
    }
  }
}
