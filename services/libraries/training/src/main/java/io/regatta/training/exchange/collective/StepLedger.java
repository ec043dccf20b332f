package io.regatta.training.exchange.collective;

import io.regatta.training.session.RankOperations;
import java.nio.FloatBuffer;
import java.util.function.BooleanSupplier;

/**
 * The floats of a step's header by which the ranks of an elastic job keep one common ledger: {@link SharedLedger}. The
 * ranks of a job that is not elastic read partitions of their own, and use {@link #NONE}. Belongs to a model thread.
 */
interface StepLedger {

  /** Returns what the ranks of a job need to tell each other of the data of a step: where ranks may be lost, who has trained what. */
  static StepLedger of(String job, RankOperations ranks, int most) {
    return ranks.peers().isElastic() ? new SharedLedger(job, ranks, most) : NONE;
  }

  /** No ledger: others' steps are joined until there is one in which no rank trains. */
  StepLedger NONE = new StepLedger() {

    @Override
    public boolean repeatsSteps() {
      return false;
    }

    @Override
    public int floats() {
      return 0;
    }

    @Override
    public void write(FloatBuffer header, int at, boolean trains, boolean gone) {}

    @Override
    public boolean completed(FloatBuffer header, int at) {
      return false;
    }

    @Override
    public void join(BooleanSupplier step) {
      boolean othersStepped = true;
      while (othersStepped) {
        othersStepped = step.getAsBoolean();
      }
    }
  };

  /** Returns true if a step may have to be made again, by those who are left. */
  boolean repeatsSteps();

  /** Returns the number of its floats in the header. */
  int floats();

  /**
   * Writes this rank's floats for a step.
   *
   * @param at index in the header at which its floats begin
   * @param trains true if this rank trains the batch that it was assigned
   * @param gone true if it trains no more of the pass, whatever it is assigned
   */
  void write(FloatBuffer header, int at, boolean trains, boolean gone);

  /** Takes over the floats of all ranks in a completed step. Returns true if newcomers wait to join after it. */
  boolean completed(FloatBuffer header, int at);

  /**
   * Joins the others' steps as long as they make any, or may have a batch for this rank.
   *
   * @param step joins one; returns true if any rank has trained in it
   */
  void join(BooleanSupplier step);
}
