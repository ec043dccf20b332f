package io.regatta.training.exchange.collective;

import io.regatta.training.session.RankGroup;
import io.regatta.training.session.RankOperations;
import java.nio.FloatBuffer;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ledger of an elastic job in the headers of its steps, each of whose floats is summed over the ranks. Belongs to a
 * model thread.
 */
final class SharedLedger implements StepLedger {

  private static final Logger LOG = LoggerFactory.getLogger(SharedLedger.class);

  /**
   * Indices of the number of ranks that know of a trainer waiting for the next generation, and of those without a batch
   * left.
   */
  private static final int NEWCOMERS = 0;
  private static final int FINISHED = 1;
  /** First index of the ranks' floats: 1 if the rank has trained its next batch. */
  private static final int TRAINED = 2;

  private final String job;
  private final RankOperations rank;
  private final RankGroup peers;
  private final int maxRanks;

  /** @param maxRanks largest number of ranks */
  SharedLedger(String job, RankOperations rank, int maxRanks) {
    this.job = job;
    this.rank = rank;
    this.maxRanks = maxRanks;
    peers = rank.peers();
  }

  @Override
  public boolean repeatsSteps() {
    return true;
  }

  @Override
  public int floats() {
    return TRAINED + maxRanks;
  }

  @Override
  public void write(FloatBuffer header, int at, boolean trains, boolean gone) {
    for (int i = 0; i < floats(); i++) {
      header.put(at + i, 0);
    }
    if (trains) {
      header.put(at + TRAINED + peers.rank(), 1);
    }
    if (peers.newcomers()) {
      header.put(at + NEWCOMERS, 1);
    }
    if (gone || rank.passes().next().isEmpty()) {
      header.put(at + FINISHED, 1);
    }
  }

  @Override
  public boolean completed(FloatBuffer header, int at) {
    BitSet trained = new BitSet();
    for (int r = 0; r < maxRanks; r++) {
      trained.set(r, header.get(at + TRAINED + r) > 0);
    }
    rank.passes().trained(trained);
    if (trained.isEmpty() && header.get(at + FINISHED) == peers.worldSize()) {
      rank.passes().end();
    }
    return header.get(at + NEWCOMERS) > 0;
  }

  @Override
  public void join(BooleanSupplier step) {
    if (!rank.passes().next().isEmpty()) {
      LOG.info("trainer {} of job {} ends a pass of which {} examples are left, because of max_steps or its "
          + "program", peers.rank(), job, rank.passes().left());
    }
    while (rank.passes().isUnderWay()) {
      step.getAsBoolean();
    }
  }
}
