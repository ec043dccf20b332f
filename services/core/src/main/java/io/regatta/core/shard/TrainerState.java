package io.regatta.core.shard;

import io.regatta.core.exchange.Wait;
import java.util.LinkedHashMap;
import java.util.Map;

/** What one shard knows of one life of one rank of a job. Owned by the shard's thread. */
final class TrainerState {

  /** Whether others still wait for the trainer. */
  enum Phase { ACTIVE, LEFT, LOST }

  /** Own updates remembered for staleness; a trainer with more than these since its pull is counted as staler. */
  private static final int OWN_UPDATES = 256;

  final int rank;
  final long incarnation;
  Phase phase = Phase.ACTIVE;
  /** It has asked not to be waited for until it registers again. */
  boolean sitsOut;
  /** Highest sequence taken in; this and lower ones are repetitions. Gaps are refused pushes. */
  long lastSequence;
  /** In a mode without rounds: a push that has begun to be applied and is not complete, or null. */
  Application application;
  /** Pushes applied, or in sync mode taken in; empty and skipped ones included. */
  long clock;
  /** Sync: the step that it must push next. */
  long nextStep;
  long lastStep = -1;
  long lastSeenMillis;

  private long[] ownVersions = new long[OWN_UPDATES];
  private int ownCount;
  private final Map<String, IdSet> changed = new LinkedHashMap<>();

  TrainerState(int rank, long incarnation) {
    this.rank = rank;
    this.incarnation = incarnation;
  }

  boolean active() {
    return phase == Phase.ACTIVE;
  }

  /** Whether others wait for its pushes. */
  boolean takesPart() {
    return phase == Phase.ACTIVE && !sitsOut;
  }

  String name() {
    return "trainer " + rank;
  }

  Wait.Peer peer() {
    return new Wait.Peer(name(), lastStep, lastSeenMillis);
  }

  /** Notes that the update that led to {@code version} held this trainer's gradient. */
  void ownUpdate(long version) {
    ownVersions[ownCount++ % OWN_UPDATES] = version;
    if (ownCount == 2 * OWN_UPDATES) {
      ownCount = OWN_UPDATES;
    }
  }

  /** Updates after {@code version} that held this trainer's gradient. */
  long ownUpdatesSince(long version) {
    int n = 0;
    int known = Math.min(ownCount, OWN_UPDATES);
    while (n < known && ownVersions[(ownCount - 1 - n) % OWN_UPDATES] > version) {
      n++;
    }
    return n;
  }

  /** Geo: notes that the rows of {@code ids[from .. to)} have changed. Holds no more ids than the table has rows. */
  void markChanged(String table, long[] ids, int from, int to) {
    IdSet set = changed.computeIfAbsent(table, t -> IdSet.forMany());
    for (int i = from; i < to; i++) {
      set.add(ids[i]);
    }
  }

  /** Geo: ids of the rows changed since {@link #forgetChanged}. */
  long[] changed(String table) {
    IdSet set = changed.get(table);
    return set == null ? new long[0] : set.toArray();
  }

  /** Geo: the trainer has what {@link #changed} told. */
  void forgetChanged() {
    changed.clear();
  }

  /** Ends this life, and frees what only a live trainer needs; rank, incarnation and last step stay for status. */
  void end(Phase how) {
    phase = how;
    application = null;
    changed.clear();
    ownVersions = new long[0];
    ownCount = 0;
  }
}
