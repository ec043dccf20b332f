package io.regatta.core.shard.internal.push;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.parameters.ChangeLog;
import io.regatta.core.shard.internal.parameters.CountedPulls;

/** The state of one incarnation of one rank of a job on one shard. Owned by the shard's thread. */
public final class TrainerState {

  /** Whether others still wait for the trainer. */
  public enum Phase { ACTIVE, LEFT, LOST }

  /** Own updates remembered for staleness; a trainer with more than these since its pull is counted as staler. */
  private static final int OWN_UPDATES = 256;

  public final int rank;
  public final long incarnation;
  Phase phase = Phase.ACTIVE;
  /** True if it has asked not to be waited for until it registers again. */
  boolean sitsOut;
  /** Highest sequence taken in; this and lower ones are repetitions. Gaps are refused pushes. */
  long lastSequence;
  /** In a mode without rounds: the push that has begun to be applied and is not complete, or null. */
  public PushApplication application;
  /** Number of pushes applied, or in sync mode taken in; empty and skipped ones included. */
  public long clock;
  /**
   * Progress that the shard's values contain: as reported by its last push that has been applied, in sync mode with its
   * round.
   */
  public TrainerProgress progress = TrainerProgress.NONE;
  /** Sync: the step that it must push next. */
  public long nextStep;
  long lastStep = -1;
  long lastSeenMillis;
  /** Geo: version of the {@link ChangeLog} up to which the trainer has received the changes; -1 before it registers. */
  public long told = -1;
  /** Rows for whose admission its latest pulls have counted. */
  public final CountedPulls counted = new CountedPulls();

  private long[] ownVersions = new long[OWN_UPDATES];
  private int ownCount;

  TrainerState(int rank, long incarnation) {
    this.rank = rank;
    this.incarnation = incarnation;
  }

  public boolean active() {
    return phase == Phase.ACTIVE;
  }

  /** Returns true if others wait for its pushes. */
  boolean takesPart() {
    return phase == Phase.ACTIVE && !sitsOut;
  }

  /** Notes a request of this incarnation, unless it has ended. */
  public void seen(long nowMillis) {
    if (active()) {
      lastSeenMillis = nowMillis;
    }
  }

  public String name() {
    return "trainer " + rank;
  }

  Wait.Peer peer() {
    return new Wait.Peer(name(), lastStep, lastSeenMillis);
  }

  /** Notes that the update that led to {@code version} held this trainer's gradient. */
  public void ownUpdate(long version) {
    ownVersions[ownCount++ % OWN_UPDATES] = version;
    if (ownCount == 2 * OWN_UPDATES) {
      ownCount = OWN_UPDATES;
    }
  }

  /** Returns the number of updates after {@code version} that held this trainer's gradient. */
  public long ownUpdatesSince(long version) {
    int n = 0;
    int known = Math.min(ownCount, OWN_UPDATES);
    while (n < known && ownVersions[(ownCount - 1 - n) % OWN_UPDATES] > version) {
      n++;
    }
    return n;
  }

  /**
   * Ends this incarnation, and frees what only a live trainer needs; rank, incarnation and last step stay for status.
   */
  void end(Phase how) {
    phase = how;
    application = null;
    counted.clear();
    ownVersions = new long[0];
    ownCount = 0;
  }
}
