package io.regatta.core.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.group.Seating.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SeatingTest {

  @Test
  void whoWasThereKeepsItsRank_thenWishesCount_thenTheOrderOfComing() {
    assertThat(Seating.ranks(List.of(new Candidate(-1, -1), new Candidate(-1, 1), new Candidate(2, 0), new Candidate(0, -1))))
        .containsExactly(3, 1, 2, 0);
    assertThat(Seating.ranks(List.of(new Candidate(3, 3), new Candidate(1, 1)))).as("fewer than before").containsExactly(0, 1);
    assertThat(Seating.ranks(List.of(new Candidate(-1, 1), new Candidate(1, 1)))).containsExactly(0, 1);
    assertThat(Seating.ranks(List.of())).isEmpty();
  }

  @Property(tries = 300)
  void everyRankIsGivenOnce(@ForAll @IntRange(max = 12) int n, @ForAll Random random) {
    List<Candidate> candidates = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      candidates.add(new Candidate(random.nextInt(14) - 1, random.nextInt(14) - 1));
    }
    assertThat(IntStream.of(Seating.ranks(candidates)).sorted().toArray()).isEqualTo(IntStream.range(0, n).toArray());
  }
}
