package io.regatta.core.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * The record of one pass in a job whose ranks join and leave: which rank trains which examples, and which have been
 * trained. No example is trained twice or left out. It is a pure function of what all ranks know, and each rank keeps
 * its own: they assign examples without communication. Owned by one thread.
 *
 * <p>The examples are the positions from 0 in the order of the pass. When a generation begins, the remaining examples
 * are cut into windows of a batch for each rank. Each rank gets its part of every window, as workers of a fixed number
 * do. A rank trains its batches in order; each step says which ranks have trained one ({@link #trained}). When the
 * ranks change, the ranks that stay keep the batches that they hold. All other untrained examples are assigned anew
 * ({@link #redeal}).
 */
public final class Ledger {

  private final long examples;
  private final int batchSize;
  private final boolean dropLast;
  private int ranks;
  /** Examples that were untrained, and held by no rank, when this assignment began. */
  private Spans pool;
  /** Batch that each rank has kept from the assignment before; mostly none. */
  private Spans[] kept;
  /** Number of batches that each rank has trained since, including the kept one. */
  private long[] trained;

  /**
   * Creates the record of a pass that begins.
   *
   * @param examples number of examples
   * @param batchSize examples of one rank's batch, at least 1
   * @param dropLast whether a last window that does not fill every rank's batch is left out
   * @param ranks at least 1
   */
  public Ledger(long examples, int batchSize, boolean dropLast, int ranks) {
    this.examples = examples;
    this.batchSize = batchSize;
    this.dropLast = dropLast;
    deal(Spans.of(0, examples), ranks);
  }

  /**
   * Returns the record of the same pass in a run that resumes from here. The untrained examples are assigned anew,
   * perhaps in batches of another size and among another number of ranks.
   */
  public Ledger goneOn(int ofBatchSize, boolean dropsLast, int among) {
    Ledger on = new Ledger(examples, ofBatchSize, dropsLast, among);
    on.deal(left(), among);
    return on;
  }

  private void deal(Spans left, int among) {
    ranks = among;
    pool = left;
    kept = new Spans[ranks];
    Arrays.fill(kept, Spans.NONE);
    trained = new long[ranks];
  }

  /** Returns the number of examples of the pass. */
  public long examples() {
    return examples;
  }

  /** Returns the number of ranks that the pass is assigned to. */
  public int ranks() {
    return ranks;
  }

  /** Returns the batch that a rank trains next; empty if it has trained all that is assigned to it. */
  public Spans next(int rank) {
    return batch(rank, trained[rank]);
  }

  /** Returns batch number {@code k} of a rank in this assignment; empty after its last. */
  private Spans batch(int rank, long k) {
    if (!kept[rank].isEmpty()) {
      return k == 0 ? kept[rank] : part(rank, k - 1);
    }
    return part(rank, k);
  }

  /** Returns a rank's part of a window; empty if there is none. */
  private Spans part(int rank, long window) {
    long from = window * batchSize * ranks;
    long size = Math.min((long) batchSize * ranks, pool.size() - from);
    if (size <= 0 || dropLast && size < (long) batchSize * ranks) {
      return Spans.NONE;
    }
    return pool.sub(from + size * rank / ranks, from + size * (rank + 1) / ranks);
  }

  /** Returns the batches of a rank from its next one, as they are assigned now. */
  public Iterator<Spans> upcoming(int rank) {
    Ledger now = of(state());
    return new Iterator<>() {
      private long k = now.trained[rank];

      @Override
      public boolean hasNext() {
        return !now.batch(rank, k).isEmpty();
      }

      @Override
      public Spans next() {
        Spans next = now.batch(rank, k++);
        if (next.isEmpty()) {
          throw new NoSuchElementException("rank " + rank + " has no more batches");
        }
        return next;
      }
    };
  }

  /** Notes a step in which each of these ranks has trained its next batch. */
  public void trained(BitSet by) {
    by.stream().forEach(rank -> {
      if (rank >= ranks || next(rank).isEmpty()) {
        throw new IllegalStateException("rank " + rank + " has trained a batch that it was not dealt; all ranks must read the same "
            + "data, in batches of " + batchSize);
      }
      trained[rank]++;
    });
  }

  /** Returns true if everything has been trained, except what is dropped at the end. */
  public boolean isDone() {
    for (int rank = 0; rank < ranks; rank++) {
      if (!next(rank).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Returns the examples that have not been trained. */
  public Spans left() {
    List<Spans> left = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      addLeft(rank, trained[rank], left);
    }
    left.add(neverDealt());
    return Spans.union(left);
  }

  private void addLeft(int rank, long from, List<Spans> to) {
    long k = from;
    for (Spans batch = batch(rank, k); !batch.isEmpty(); batch = batch(rank, ++k)) {
      to.add(batch);
    }
  }

  /** Returns the last window, if it is dropped. */
  private Spans neverDealt() {
    long window = (long) batchSize * ranks;
    return dropLast ? pool.sub(pool.size() / window * window, pool.size()) : Spans.NONE;
  }

  /**
   * Assigns the untrained examples anew, because the ranks have changed.
   *
   * @param before for each new rank: its rank until now, -1 if it is new
   * @param holding the new ranks that hold their next batch, which they keep
   */
  public void redeal(int[] before, BitSet holding) {
    Spans[] stays = new Spans[before.length];
    BitSet holdBefore = new BitSet();
    for (int rank = 0; rank < before.length; rank++) {
      stays[rank] = Spans.NONE;
      if (holding.get(rank)) {
        stays[rank] = next(before[rank]);
        holdBefore.set(before[rank]);
      }
    }
    List<Spans> left = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      addLeft(rank, trained[rank] + (holdBefore.get(rank) ? 1 : 0), left);
    }
    left.add(neverDealt());
    deal(Spans.union(left), before.length);
    kept = stays;
  }

  /** Returns the whole record, for a rank that does not have it. */
  public long[] state() {
    List<long[]> sets = new ArrayList<>();
    sets.add(pool.bounds());
    for (Spans of : kept) {
      sets.add(of.bounds());
    }
    long[] state = new long[4 + ranks + sets.stream().mapToInt(set -> 1 + set.length).sum()];
    int at = 0;
    state[at++] = examples;
    state[at++] = batchSize;
    state[at++] = dropLast ? 1 : 0;
    state[at++] = ranks;
    for (long of : trained) {
      state[at++] = of;
    }
    for (long[] set : sets) {
      state[at++] = set.length;
      System.arraycopy(set, 0, state, at, set.length);
      at += set.length;
    }
    return state;
  }

  /** Returns a record from its {@link #state}. */
  public static Ledger of(long[] state) {
    Ledger ledger = new Ledger(state[0], (int) state[1], state[2] == 1, (int) state[3]);
    int at = 4;
    System.arraycopy(state, at, ledger.trained, 0, ledger.ranks);
    at += ledger.ranks;
    ledger.pool = Spans.ofBounds(set(state, at));
    at += 1 + (int) state[at];
    for (int rank = 0; rank < ledger.ranks; rank++) {
      ledger.kept[rank] = Spans.ofBounds(set(state, at));
      at += 1 + (int) state[at];
    }
    return ledger;
  }

  private static long[] set(long[] state, int at) {
    return Arrays.copyOfRange(state, at + 1, at + 1 + (int) state[at]);
  }
}
