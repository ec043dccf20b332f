package io.regatta.training.session;

import io.regatta.protocol.gather.ElectionBallot;
import io.regatta.protocol.gather.ElectionBallot.State;
import io.regatta.protocol.gather.ElectionResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The election of the rank that runs an operation for all: {@link RankCalls#byTheLowest}. Stateless; runs on the
 * caller's thread.
 */
final class Election {

  private Election() {}

  /** One exchange of the ranks' ballots; ranks that are lost meanwhile give none. */
  interface Round {

    /**
     * Gathers the ballots of all ranks.
     *
     * @param number of the round, from 0
     * @return in the order of ranks
     */
    List<ElectionBallot> gather(int number, ElectionBallot mine);
  }

  /**
   * Runs the election and the operation.
   *
   * @param self number that only this rank has
   * @param first true if it is the lowest of all ranks, which begins at once
   */
  static Optional<ElectionResult> byTheLowest(long self, boolean first, boolean able, Supplier<ElectionResult> deed, Round round) {
    boolean chosen = able && first;
    for (int number = 0; ; number++) {
      ElectionBallot.Builder mine = ElectionBallot.newBuilder().setCandidate(self).setState(able ? State.ABLE : State.UNABLE);
      if (chosen) {
        mine.setState(State.DONE).setResult(deed.get());
      }
      List<ElectionBallot> all = round.gather(number, mine.build());
      Optional<ElectionBallot> done = all.stream().filter(of -> of.getState() == State.DONE).findFirst();
      if (done.isPresent()) {
        return done.map(ElectionBallot::getResult);
      }
      Optional<ElectionBallot> candidate = all.stream().filter(of -> of.getState() == State.ABLE).findFirst();
      if (candidate.isEmpty()) {
        return Optional.empty();
      }
      chosen = candidate.get().getCandidate() == self;
    }
  }
}
