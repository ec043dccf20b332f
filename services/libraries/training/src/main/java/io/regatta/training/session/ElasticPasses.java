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
 * Where the programs of an elastic job are: which pass, which call since it began, and who trains which examples of it. The ledger is
 * the same at all ranks that have completed the same operations; passes and calls are this rank's own. Of a newcomer they lie
 * behind the others' at first: what it comes to then has been done without it, and calls since the pass under way began are answered with
 * what they came to, so that its program goes the same way. Belongs to the rank's model thread.
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
  /** Of the pass with this number, from 1; null before the first. */
  private Ledger ledger;
  private long ledgerPass;
  private boolean over;
  /** Examples of batches that lost ranks held and others train, in all passes. */
  private long repeated;
  /** Of the pass in whose middle the run goes on from a snapshot, until that begins: what had not been trained; else null. */
  private Ledger resumed;
  /** Of the ranks, by rank, as the ledger was dealt. */
  private long[] lives = {};
  private long dealings;
  /** Begun by this rank's program, and its calls since. */
  private long passes;
  private long calls;
  /** The same of the others when this rank came. */
  private long passesBefore;
  private long callsBefore;
  /** Of the last calls since the pass began; of a newcomer at first the others'. */
  private final List<RankOperation.Result> results = new ArrayList<>();

  ElasticPasses(RankGroup peers) {
    this.peers = peers;
  }

  /** What a call of this rank's program is to the others. */
  enum Place {
    /** They make it, too. */
    NOW,
    /** They have made it since the pass began that is under way, and its result is known. */
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

  /** The result of the call that has begun, where it is recorded. */
  RankOperation.Result recorded() {
    return results.get((int) (calls - 1 - (callsBefore - results.size())));
  }

  /** The call has been made. */
  void endCall(RankOperation.Result result) {
    if (results.size() == CALLS_RECORDED) {
      results.remove(0);
    }
    results.add(result);
  }

  /**
   * A pass over training data begins.
   *
   * @param examples the same at all ranks
   * @param dropLast see {@link Ledger}
   * @return false if it is behind the others as a whole, so that nothing of it is to be read
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
          + "snapshot that the run goes on from, in the middle of a pass) one of " + ledger.examples() + "; all must read the same");
    }
    return true;
  }

  /** The run begins with this pass, counted from 0: it goes on from a snapshot. Before the first. */
  public void resumeAt(long pass) {
    if (ledger == null && ledgerPass == 0) { // and this is no newcomer
      ledgerPass = pass;
      over = true;
    }
  }

  /**
   * The same in the middle of that pass.
   *
   * @param state of its ledger, see {@link #ledger}
   */
  public void resumeIn(long pass, long[] state) {
    if (ledger == null && ledgerPass == 0) {
      resumeAt(pass);
      resumed = Ledger.of(state);
    }
  }

  /** The pass under way, counted from 0. */
  public int pass() {
    return Math.toIntExact(ledgerPass - 1);
  }

  /** Who has trained what of it: {@link Ledger#state}. */
  public long[] ledger() {
    return ledger.state();
  }

  /** Whether a pass is under way whose end the ranks have not seen together. */
  public boolean isUnderWay() {
    return ledger != null && ledgerPass == passes && !over;
  }

  /** The batch that this rank trains next; empty if it has none left. */
  public Spans next() {
    return isUnderWay() ? ledger.next(peers.rank()) : Spans.NONE;
  }

  /** This rank's batches from the next one on, as long as {@link #dealings} stays the same. */
  public Iterator<Spans> upcoming() {
    return isUnderWay() ? ledger.upcoming(peers.rank()) : Collections.emptyIterator();
  }

  /** A number that changes whenever batches are dealt anew. */
  public long dealings() {
    return dealings;
  }

  /** Examples of the pass that have not been trained. */
  public long left() {
    return isUnderWay() ? ledger.left().size() : 0;
  }

  /**
   * Returns how many examples were computed by ranks that were lost in a step, and then again by others. It is an
   * upper bound: each lost rank is taken to have computed its batch. The model contains the examples once.
   */
  public long repeated() {
    return repeated;
  }

  /** At the end of an attempt: these ranks have trained their next batches. */
  public void trained(BitSet ranks) {
    ledger.trained(ranks);
  }

  /** At the end of an attempt: nobody trains any more in this pass. */
  public void end() {
    over = true;
  }

  // ---- from generation to generation

  /** @param inCall whether this rank is in its last call still */
  long[] told(boolean inCall) {
    return Recovery.packed(new long[] {ledgerPass, over ? 1 : 0, passes, calls - (inCall ? 1 : 0), repeated},
        ledger == null ? new long[0] : ledger.state(), lives,
        Recovery.packed(results.stream().map(RankOperation.Result::packed).toArray(long[][]::new)),
        resumed == null ? new long[0] : resumed.state());
  }

  /** @param fresh whether this rank has just come */
  void take(long[] told, boolean fresh) {
    List<long[]> parts = Recovery.unpacked(told);
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

  /** A generation begins: who goes on keeps the batch that it holds; the others' are dealt anew. */
  void deal(List<Recovery> rows, long operations) {
    dealings++;
    int[] before = new int[rows.size()];
    BitSet holding = new BitSet();
    for (int rank = 0; rank < before.length; rank++) {
      Recovery row = rows.get(rank);
      before[rank] = rankOf(row.life());
      holding.set(rank, row.holds() && row.operations() == operations);
      if (ledger != null && holding.get(rank) && before[rank] < 0) {
        throw new IllegalStateException("rank " + rank + " holds a batch that nobody has dealt to it");
      }
    }
    if (ledger != null) {
      repeated += over ? 0 : heldByTheLost(rows);
      ledger.redeal(before, holding);
    }
    lives = rows.stream().mapToLong(Recovery::life).toArray();
  }

  /** Returns the number of examples in the batches of lost ranks; how many of them they have computed is not known. */
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
