package io.regatta.training.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ElectionTest {

  private static final double UNABLE = -1;
  private static final double ABLE = 0;
  private static final double DONE = 1;

  /** Rank 0 has said that it is able, and is lost before the second round. */
  @Test
  void theNextOneThatCanMakesUpForALowestThatIsLost() {
    List<Integer> rounds = new ArrayList<>();
    double[] told = Election.byTheLowest(2, false, true, () -> new double[] {7}, (number, mine) -> {
      rounds.add(number);
      return number == 0 ? List.of(new double[] {0, ABLE}, new double[] {1, UNABLE}, mine)
          : List.of(new double[] {1, UNABLE}, mine);
    });
    assertThat(told).containsExactly(7);
    assertThat(rounds).containsExactly(0, 1, 2);
  }

  @Test
  void whatAnotherHasDoneIsNotDoneAgain() {
    double[] told = Election.byTheLowest(1, false, true, () -> {
      throw new AssertionError("done twice");
    }, (number, mine) -> List.of(new double[] {0, DONE, 3, 4}, mine));
    assertThat(told).containsExactly(3, 4);
  }

  @Test
  void nothingIsToldWhereNobodyCan() {
    assertThat(Election.byTheLowest(0, true, false, () -> new double[] {1}, (number, mine) -> List.of(mine))).isEmpty();
  }
}
