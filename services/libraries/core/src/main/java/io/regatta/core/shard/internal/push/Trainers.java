package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.RegisteredTrainer;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.core.exchange.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The ranks of one job as one shard knows them: the latest incarnation of each, and which are still waited for. A rank
 * that has not registered yet counts as one that everybody waits for. Owned by the shard's thread.
 */
public final class Trainers {

  private final int worldSize;
  private final String where;
  private final Map<Integer, TrainerState> byRank = new TreeMap<>();
  /** Start of each trainer of a resumed run, by rank; a rank that is not in here starts at {@link #firstClock}. */
  private final Map<Integer, TrainerStart> starts = new TreeMap<>();
  /** Number of {@link #active}. */
  private int active;
  /** The clock that every trainer starts with. */
  private long firstClock;

  public Trainers(int worldSize, String where) {
    this.worldSize = worldSize;
    this.where = where;
  }

  /**
   * Registers an incarnation of a rank. A new one takes part from a round that is still open, but not from one that the
   * rank's last incarnation has pushed. It starts level with the slowest clock, so that nobody waits for steps that it
   * cannot make up. One that sat out takes part again, from an open round, and level with the fastest clock.
   *
   * @param round the first round to wait for it in
   * @param clock the lowest clock that it may have
   */
  public TrainerState register(TrainerId id, long round, long clock, long nowMillis) {
    TrainerState old = byRank.get(id.rank());
    if (old != null && old.active() && old.incarnation() != id.incarnation()) {
      throw new Conflict("rank " + id.rank() + " is held by incarnation " + old.incarnation() + " at " + where
          + "; incarnation " + id.incarnation() + " must wait until that one has left or is declared lost");
    }
    if (old != null && !old.active() && id.incarnation() <= old.incarnation()) {
      throw stale("registration of incarnation " + id.incarnation(), old);
    }
    if (old == null || !old.active()) {
      byRank.put(id.rank(), old == null ? begin(id) : new TrainerState(id.rank(), id.incarnation(), old.nextStep(),
          Math.max(old.clock(), minClock(0)), old.progress()));
      active++;
    } else if (old.sitsOut()) {
      old.returns(active().stream().mapToLong(TrainerState::clock).max().orElse(old.clock()));
    }
    TrainerState t = byRank.get(id.rank());
    t.catchUp(round, Math.max(clock, start(id.rank()).clock()));
    t.seen(nowMillis);
    return t;
  }

  /** Returns the first incarnation of a rank in this run; the values contain of it what a resumed snapshot had. */
  private TrainerState begin(TrainerId id) {
    TrainerStart start = start(id.rank());
    return new TrainerState(id.rank(), id.incarnation(), 0, start.clock(), start.progress());
  }

  /** Returns the live trainer of a rank, whatever its incarnation. */
  public TrainerState live(int rank, String who) {
    TrainerState t = byRank.get(rank);
    if (t == null) {
      throw new InvalidInput(who + " refused: trainer " + rank + " is not registered at " + where + "; register first");
    }
    if (!t.active()) {
      throw stale(who, t);
    }
    return t;
  }

  /** Returns this incarnation of a rank, even if it is lost, or null. */
  TrainerState find(int rank, long incarnation) {
    TrainerState t = byRank.get(rank);
    return t != null && t.incarnation() == incarnation ? t : null;
  }

  /** Returns the live trainer of a rank, which must be this incarnation. */
  public TrainerState live(int rank, long incarnation, String who) {
    TrainerState t = live(rank, who);
    if (t.incarnation() != incarnation) {
      throw new StaleGeneration(who + " refused: it comes from incarnation " + incarnation + ", but " + where
          + " knows trainer " + rank + " as incarnation " + t.incarnation() + "; join the group again");
    }
    return t;
  }

  /**
   * Returns the live trainer of a rank that has registered here before. An unknown rank means that the job has been
   * started again.
   */
  public TrainerState known(TrainerId id, String who) {
    if (!byRank.containsKey(id.rank())) {
      throw new StaleGeneration(who + " refused: " + where + " has begun anew meanwhile; join the group again");
    }
    return live(id.rank(), id.incarnation(), who);
  }

  /** Returns the application of exactly this push that one of its trainers has begun, or null. */
  PushApplication underWay(Push push) {
    for (Contributor c : push.contributors()) {
      TrainerState t = byRank.get(c.rank());
      if (t != null && t.application() != null && t.application().isOf(push)) {
        return t.application();
      }
    }
    return null;
  }

  private StaleGeneration stale(String who, TrainerState t) {
    return new StaleGeneration(who + " refused: trainer " + t.rank() + " (incarnation " + t.incarnation() + ") "
        + (t.phase() == TrainerState.Phase.LEFT ? "has left " : "was declared lost at ") + where
        + "; join the group again for a newer incarnation");
  }

  /**
   * Ends an incarnation. A rank that never registered can be lost, too; then nobody waits for it.
   *
   * @return the trainer if it was live until now, else null
   */
  public TrainerState end(TrainerId id, TrainerState.Phase how) {
    TrainerState t = byRank.get(id.rank());
    boolean unseen = t == null && how == TrainerState.Phase.LOST && id.rank() >= 0 && id.rank() < worldSize;
    if (unseen) {
      t = begin(id);
      byRank.put(id.rank(), t);
    }
    if (t == null || t.incarnation() != id.incarnation() || !t.active()) {
      return null;
    }
    t.end(how);
    active -= unseen ? 0 : 1;
    return t;
  }

  /**
   * Returns the state of each trainer's pushes in the values, in the order of ranks.
   *
   * @param pushes some of which may have been taken in whole and applied in part
   */
  public List<SavedTrainer> saved(PushQueue pushes) {
    return byRank.values().stream().map(t -> {
      long open = t.application() == null ? 0 : t.application().examplesAfter(t);
      return new SavedTrainer(t.rank(), t.incarnation(), t.lastSequence(), t.clock(), t.progress(),
          Math.max(open, pushes.examplesAfter(t)), t.active());
    }).toList();
  }

  private TrainerStart start(int rank) {
    return starts.getOrDefault(rank, new TrainerStart(rank, firstClock, TrainerProgress.NONE));
  }

  /**
   * Resumes a run, each trainer with its own progress. A trainer that is lost already gets its own, too: the values
   * still contain its pushes.
   */
  public void resumeAt(ResumePoint at) {
    firstClock = at.round();
    at.trainers().forEach(t -> starts.put(t.rank(), t));
    for (TrainerState t : byRank.values()) {
      t.catchUp(at.round(), start(t.rank()).clock());
      t.contained(start(t.rank()).progress());
    }
  }

  /** Notes that a push has been taken in as a whole, so that a further arrival of it is a repetition. */
  public void takenIn(Push push, List<TrainerState> from, long nowMillis) {
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.takenIn(push.contributors().get(i).sequence(), push.step());
      t.seen(nowMillis);
    }
  }

  /** Notes that a push has begun to be applied as it arrives; those of its trainers that are lost do not continue it. */
  public void begun(PushApplication push, List<TrainerState> from, long nowMillis) {
    for (TrainerState t : from) {
      t.begun(t.active() ? push : null);
      t.seen(nowMillis);
    }
  }

  /** Notes that a push announces that its trainers sit out. */
  void sitOut(Push push, List<TrainerState> from, long nowMillis) {
    for (int i = 0; i < from.size(); i++) {
      from.get(i).sitsOut(push.contributors().get(i).sequence());
      from.get(i).seen(nowMillis);
    }
  }

  /** Counts a push in the clocks of its trainers; its mode decides when. */
  public void count(List<TrainerState> from) {
    from.forEach(TrainerState::countPush);
  }

  /** Notes that a push is in the values as a whole. */
  public void contains(Push push) {
    for (Contributor c : push.contributors()) {
      TrainerState t = find(c.rank(), c.incarnation());
      if (t != null && !c.progress().equals(TrainerProgress.NONE)) {
        t.contained(c.progress());
      }
    }
  }

  /** Returns true if a push of a trainer has been applied in part and has not fully arrived. */
  public boolean anyUnderWay() {
    return active().stream().anyMatch(t -> t.application() != null);
  }

  /** Returns whether {@link #end} would change anything. */
  public boolean canEnd(TrainerId id, TrainerState.Phase how) {
    TrainerState t = byRank.get(id.rank());
    return t == null ? how == TrainerState.Phase.LOST && id.rank() >= 0 && id.rank() < worldSize
        : t.active() && t.incarnation() == id.incarnation();
  }

  /** Returns the active incarnation of a rank, or -1. */
  public long activeIncarnation(int rank) {
    TrainerState t = byRank.get(rank);
    return t != null && t.active() ? t.incarnation() : -1;
  }

  /** Returns true if no trainer is active. */
  public boolean deserted() {
    return active == 0;
  }

  public List<TrainerState> active() {
    return byRank.values().stream().filter(TrainerState::active).toList();
  }

  /**
   * Returns the lowest clock of the trainers that take part; 0 while a rank has not registered; {@code none} if there
   * are none.
   */
  public long minClock(long none) {
    if (byRank.size() < worldSize) {
      return 0;
    }
    long min = Long.MAX_VALUE;
    for (TrainerState t : byRank.values()) {
      if (t.takesPart()) {
        min = Math.min(min, t.clock());
      }
    }
    return min == Long.MAX_VALUE ? none : min;
  }

  /**
   * Returns the lowest step that a trainer that takes part will push next; {@code none} if there is none, or a rank is
   * missing.
   */
  public long minNextStep(long none) {
    return byRank.size() < worldSize ? none
        : byRank.values().stream().filter(TrainerState::takesPart).mapToLong(t -> t.nextStep()).min().orElse(none);
  }

  /** Returns true if every rank has registered (some may have ended), and none that takes part is behind. */
  public boolean noneMissing(Predicate<TrainerState> behind) {
    if (byRank.size() < worldSize) {
      return false;
    }
    for (TrainerState t : byRank.values()) {
      if (t.takesPart() && behind.test(t)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the trainers that take part and are behind, and the ranks that have never registered. */
  public List<Wait.Peer> missing(Predicate<TrainerState> behind) {
    List<Wait.Peer> peers = new ArrayList<>();
    for (int rank = 0; rank < worldSize; rank++) {
      TrainerState t = byRank.get(rank);
      if (t == null) {
        peers.add(new Wait.Peer("trainer " + rank, -1, 0));
      } else if (t.takesPart() && behind.test(t)) {
        peers.add(t.peer());
      }
    }
    return peers;
  }

  /** Returns the trainer of a rank as a peer to wait for, registered or not. */
  public Wait.Peer peer(int rank) {
    TrainerState t = byRank.get(rank);
    return t == null ? new Wait.Peer("trainer " + rank, -1, 0) : t.peer();
  }

  public List<RegisteredTrainer> status() {
    List<RegisteredTrainer> all = new ArrayList<>();
    for (TrainerState t : byRank.values()) {
      all.add(new RegisteredTrainer(t.rank(), t.incarnation(), t.phase().name().toLowerCase(Locale.ROOT),
          t.lastStep(), t.lastSeenMillis()));
    }
    return all;
  }
}
