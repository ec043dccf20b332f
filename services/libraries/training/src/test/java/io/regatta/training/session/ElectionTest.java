package io.regatta.training.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.gather.ElectionBallot;
import io.regatta.protocol.gather.ElectionBallot.State;
import io.regatta.protocol.gather.ElectionResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ElectionTest {

  private static ElectionBallot ballot(long candidate, State state) {
    return ElectionBallot.newBuilder().setCandidate(candidate).setState(state).build();
  }

  private static ElectionResult digest(long digest) {
    return ElectionResult.newBuilder().setDigest(digest).build();
  }

  /** Rank 0 has said that it is able, and is lost before the second round. */
  @Test
  void theNextOneThatCanMakesUpForALowestThatIsLost() {
    List<Integer> rounds = new ArrayList<>();
    Optional<ElectionResult> told = Election.byTheLowest(2, false, true, () -> digest(7), (number, mine) -> {
      rounds.add(number);
      return number == 0 ? List.of(ballot(0, State.ABLE), ballot(1, State.UNABLE), mine) : List.of(ballot(1, State.UNABLE), mine);
    });
    assertThat(told).contains(digest(7));
    assertThat(rounds).containsExactly(0, 1, 2);
  }

  @Test
  void whatAnotherHasDoneIsNotDoneAgain() {
    Optional<ElectionResult> told = Election.byTheLowest(1, false, true, () -> {
      throw new AssertionError("done twice");
    }, (number, mine) -> List.of(ballot(0, State.DONE).toBuilder().setResult(digest(3)).build(), mine));
    assertThat(told).contains(digest(3));
  }

  @Test
  void nothingIsToldWhereNobodyCan() {
    assertThat(Election.byTheLowest(0, true, false, () -> digest(1), (number, mine) -> List.of(mine))).isEmpty();
  }
}
