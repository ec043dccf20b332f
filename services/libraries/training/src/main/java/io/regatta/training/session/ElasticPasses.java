package io.regatta.training.session;

import io.regatta.core.data.Ledger;
import io.regatta.core.data.Spans;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The position of the programs of an elastic job: the pass, the calls since it began, and the ledger of who trains
 * which examples. The ledger is the same on all ranks that have completed the same operations; passes and calls are
 * this rank's own. Belongs to the rank's model thread.
 *
 * <p>A newcomer's passes and calls are behind the others' at first: what its program reaches then has been done without
 * it. Calls since the present pass began are answered with their recorded results, so that its program takes the same
 * path.
 */
public final class ElasticPasses {

  private static final int LEDGER_PASS = 0;
  private static final int OVER = 1;
  private static final int PASSES = 2;
  private static final int CALLS = 3;
  private static final int REPEATED = 4;
  /** Calls of one pass whose results are kept for newcomers; of programs that make more, the last ones. */
  private static final int CALLS_RECORDED = 256;

  private final RankGroup peers;
  /** Ledger of the pass with number {@code ledgerPass}, from 1; null before the first. */
  private Ledger ledger;
  private long ledgerPass;
  private boolean over;
  /** Examples of batches that lost ranks held and others train, in all passes. */
  private long repeated;
  /** Rest of a pass in whose middle the run resumes from a snapshot, until that pass begins; else null. */
  private Ledger resumed;
  /** Incarnations of the ranks, by rank, when the ledger was assigned. */
  private long[] lives = {};
  private long dealings;
  /** Passes that this rank's program has begun, and its calls since. */
  private long passes;
  private long calls;
  /** The others' passes and calls when this rank joined. */
  private long passesBefore;
  private long callsBefore;
  /** Results of the last calls since the pass began; of a newcomer at first the others'. */
  private final List<RankOperation.Result> results = new ArrayList<>();

  ElasticPasses(RankGroup peers) {
    this.peers = peers;
  }

  /** A call of this rank's program in relation to the others. */
  enum Place {
    /** They make it too. */
    NOW,
    /** They have made it in the present pass, and its result is known. */
    RECORDED,
    /** They have made it in an earlier pass. */
    BEHIND
  }

  /** Begins a call that the programs of all ranks make at the same place. */
  Place beginCall() {
    calls++;
    if (passes < passesBefore || passes == passesBefore && calls <= callsBefore - results.size()) {
      return Place.BEHIND;
    }
    return passes == passesBefore && calls <= callsBefore ? Place.RECORDED : Place.NOW;
  }

  /** Returns the recorded result of the call that has begun. */
  RankOperation.Result recorded() {
    return results.get((int) (calls - 1 - (callsBefore - results.size())));
  }

  /** Ends a call and records its result. */
  void endCall(RankOperation.Result result) {
    if (results.size() == CALLS_RECORDED) {
      results.remove(0);
    }
    results.add(result);
  }

  /**
   * Begins a pass over training data.
   *
   * @param examples the same on all ranks
   * @param dropLast see {@link Ledger}
   * @return false if the others have finished it, so that none of it must be read
   */
  public boolean begin(long examples, int batchSize, boolean dropLast) {
    passes++;
    calls = 0;
    if (passes > passesBefore) {
      results.clear();
    }
    if (passes < ledgerPass || passes == ledgerPass && over) {
      return false;
    }
    if (passes > ledgerPass) {
      ledger = resumed == null ? new Ledger(examples, batchSize, dropLast, peers.worldSize())
          : resumed.goneOn(batchSize, dropLast, peers.worldSize());
      resumed = null;
      ledgerPass = passes;
      over = false;
      dealings++;
    }
    if (ledger.examples() != examples) {
      throw new InvalidInput("rank " + peers.rank() + " reads a training set of " + examples + " examples, the others (or the "
          + "snapshot from which the run resumes, in the middle of a pass) one of " + ledger.examples() + "; all must read the same");
    }
    return true;
  }

  /** Resumes a run from a snapshot with this pass, counted from 0. Called before the first pass. */
  public void resumeAt(long pass) {
    if (ledger == null && ledgerPass == 0) { // and this is not a newcomer
      ledgerPass = pass;
      over = true;
    }
  }

  /**
   * Resumes a run in the middle of a pass.
   *
   * @param state of its ledger, see {@link #ledger}
   */
  public void resumeIn(long pass, long[] state) {
    if (ledger == null && ledgerPass == 0) {
      resumeAt(pass);
      resumed = Ledger.of(state);
    }
  }

  /** Returns the present pass, counted from 0. */
  public int pass() {
    return Math.toIntExact(ledgerPass - 1);
  }

  /** Returns the ledger of the present pass; see {@link Ledger#state}. */
  public long[] ledger() {
    return ledger.state();
  }

  /** Returns true if this rank is in a pass whose end the ranks have not reached together. */
  public boolean isUnderWay() {
    return ledger != null && ledgerPass == passes && !over;
  }

  /** Returns the next batch that this rank trains; empty if it has none left. */
  public Spans next() {
    return isUnderWay() ? ledger.next(peers.rank()) : Spans.NONE;
  }

  /** Returns this rank's batches from the next one on, valid while {@link #dealings} stays the same. */
  public Iterator<Spans> upcoming() {
    return isUnderWay() ? ledger.upcoming(peers.rank()) : Collections.emptyIterator();
  }

  /** Returns a number that changes whenever batches are assigned anew. */
  public long dealings() {
    return dealings;
  }

  /** Returns the examples of the pass that have not been trained. */
  public long left() {
    return isUnderWay() ? ledger.left().size() : 0;
  }

  /**
   * Returns the examples that were computed by ranks lost in a step, and then again by others. It is an upper bound:
   * each lost rank is assumed to have computed its batch. The model contains the examples once.
   */
  public long repeated() {
    return repeated;
  }

  /** Notes, at the end of an attempt, that these ranks have trained their next batches. */
  public void trained(BitSet ranks) {
    ledger.trained(ranks);
  }

  /** Notes, at the end of an attempt, that no rank trains any more in this pass. */
  public void end() {
    over = true;
  }

  // ---- from generation to generation

  /**
   * Returns the passes for the ranks that lack them.
   *
   * @param inCall true if this rank is still in its last call
   */
  long[] packedState(boolean inCall) {
    return Recovery.packed(new long[] {ledgerPass, over ? 1 : 0, passes, calls - (inCall ? 1 : 0), repeated},
        ledger == null ? new long[0] : ledger.state(), lives,
        Recovery.packed(results.stream().map(RankOperation.Result::packed).toArray(long[][]::new)),
        resumed == null ? new long[0] : resumed.state());
  }

  /**
   * Takes over the passes of another rank.
   *
   * @param fresh true if this rank has just joined
   */
  void take(long[] packedState, boolean fresh) {
    List<long[]> parts = Recovery.unpacked(packedState);
    long[] counts = parts.get(0);
    ledgerPass = counts[LEDGER_PASS];
    over = counts[OVER] == 1;
    repeated = counts[REPEATED];
    if (fresh) {
      passesBefore = counts[PASSES];
      callsBefore = counts[CALLS];
      results.clear();
      Recovery.unpacked(parts.get(3)).forEach(result -> results.add(RankOperation.Result.of(result)));
    }
    ledger = parts.get(1).length == 0 ? null : Ledger.of(parts.get(1));
    resumed = parts.get(4).length == 0 ? null : Ledger.of(parts.get(4));
    lives = parts.get(2);
  }

  /**
   * Assigns batches at the beginning of a generation. A rank that continues keeps the batch that it holds; the others'
   * are assigned anew.
   */
  void deal(List<Recovery> rows, long operations) {
    dealings++;
    int[] before = new int[rows.size()];
    BitSet holding = new BitSet();
    for (int rank = 0; rank < before.length; rank++) {
      Recovery row = rows.get(rank);
      before[rank] = rankOf(row.life());
      holding.set(rank, row.holds() && row.operations() == operations);
      if (ledger != null && holding.get(rank) && before[rank] < 0) {
        throw new IllegalStateException("rank " + rank + " holds a batch that was not assigned to it");
      }
    }
    if (ledger != null) {
      repeated += over ? 0 : heldByTheLost(rows);
      ledger.redeal(before, holding);
    }
    lives = rows.stream().mapToLong(Recovery::life).toArray();
  }

  /** Returns the examples in the batches of lost ranks; how many of them they have computed is not known. */
  private long heldByTheLost(List<Recovery> rows) {
    Set<Long> alive = rows.stream().map(Recovery::life).collect(Collectors.toSet());
    return IntStream.range(0, lives.length).filter(rank -> !alive.contains(lives[rank]))
        .mapToLong(rank -> ledger.next(rank).size()).sum();
  }

  private int rankOf(long life) {
    for (int rank = 0; rank < lives.length; rank++) {
      if (lives[rank] == life) {
        return rank;
      }
    }
    return -1;
  }
}
