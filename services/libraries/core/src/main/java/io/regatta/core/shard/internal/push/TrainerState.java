package io.regatta.core.shard.internal.push;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.parameters.CountedPulls;

/**
 * The state of one incarnation of one rank of a job on one shard: what of its pushes has been taken in, and is in the values. Others
 * read it; it is changed by {@link Trainers} alone. Owned by the shard's thread.
 */
public final class TrainerState {

  /** Whether others still wait for the trainer. */
  public enum Phase { ACTIVE, LEFT, LOST }

  /** Own updates remembered for staleness; a trainer with more than these since its pull is counted as staler. */
  private static final int OWN_UPDATES = 256;

  private final int rank;
  private final long incarnation;
  private final CountedPulls counted = new CountedPulls();
  private Phase phase = Phase.ACTIVE;
  private boolean sitsOut;
  private long lastSequence;
  private PushApplication application;
  private long clock;
  private TrainerProgress progress;
  private long nextStep;
  private long lastStep = -1;
  private long lastSeenMillis;
  private long[] ownVersions = new long[OWN_UPDATES];
  private int ownCount;

  /**
   * Begins an incarnation.
   *
   * @param nextStep the first step that it may be waited for
   * @param clock pushes of the rank that count as applied
   * @param progress what of the rank the values contain
   */
  TrainerState(int rank, long incarnation, long nextStep, long clock, TrainerProgress progress) {
    this.rank = rank;
    this.incarnation = incarnation;
    this.nextStep = nextStep;
    this.clock = clock;
    this.progress = progress;
  }

  public int rank() {
    return rank;
  }

  public long incarnation() {
    return incarnation;
  }

  Phase phase() {
    return phase;
  }

  public boolean active() {
    return phase == Phase.ACTIVE;
  }

  /** Returns true if it has asked not to be waited for until it registers again. */
  boolean sitsOut() {
    return sitsOut;
  }

  /** Returns true if others wait for its pushes. */
  boolean takesPart() {
    return phase == Phase.ACTIVE && !sitsOut;
  }

  /** Returns the highest sequence taken in; this and lower ones are repetitions. Gaps are refused pushes. */
  long lastSequence() {
    return lastSequence;
  }

  /** Returns the step of the last push taken in; -1 before. */
  long lastStep() {
    return lastStep;
  }

  long lastSeenMillis() {
    return lastSeenMillis;
  }

  /** Returns the push that has begun to be applied and is not complete, or null. */
  public PushApplication application() {
    return application;
  }

  /** Returns the number of pushes that its mode counts as made; empty and skipped ones included. */
  public long clock() {
    return clock;
  }

  /** Returns the progress that the shard's values contain: as reported by its last push that is in them. */
  public TrainerProgress progress() {
    return progress;
  }

  /** Returns the step that it must push next, where each step is to be pushed. */
  public long nextStep() {
    return nextStep;
  }

  /** Returns the rows for whose admission its latest pulls have counted. */
  public CountedPulls counted() {
    return counted;
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

  /** Resumes level with these, unless it is beyond. */
  void catchUp(long toStep, long toClock) {
    nextStep = Math.max(nextStep, toStep);
    clock = Math.max(clock, toClock);
  }

  /** The values contain this of it now. */
  void contained(TrainerProgress of) {
    progress = of;
  }

  /** Takes part again after it sat out, with this clock. */
  void returns(long atClock) {
    sitsOut = false;
    clock = atClock;
  }

  /** An announcement with this sequence: it is not waited for until it registers again. */
  void sitsOut(long sequence) {
    lastSequence = sequence;
    sitsOut = true;
  }

  /** A push has begun to be applied; null: it has been given up. */
  void begun(PushApplication push) {
    application = push;
  }

  /** A push with this sequence has been taken in as a whole. */
  void takenIn(long sequence, long step) {
    lastSequence = sequence;
    application = null;
    lastStep = step;
    nextStep = step + 1;
  }

  /** Counts a push as made. */
  void countPush() {
    clock++;
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
