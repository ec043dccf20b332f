package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableCountsTest {

  @Test
  void removedAreThoseThatShrinksAndEvictionsHaveTaken() {
    assertThat(new TableCounts(1000, 2, 3, 10, 20, 40, 80, 5, 6, 7, 8, 9).removed()).isEqualTo(150);
  }
}
