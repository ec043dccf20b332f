package io.regatta.core.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChangedRowSetTest {

  private final ChangedRowSet rows = new ChangedRowSet();

  @Test
  void nextFindsEachRow_alsoFarApart() {
    for (int row : new int[] {0, 63, 64, 130, 1000}) {
      rows.add(7, row);
    }
    int[] found = new int[5];
    int n = 0;
    for (int row = rows.next(7, 0); row >= 0; row = rows.next(7, row + 1)) {
      found[n++] = row;
    }
    assertThat(found).containsExactly(0, 63, 64, 130, 1000);
    assertThat(rows.size()).isEqualTo(5);
    assertThat(rows.next(8, 0)).isEqualTo(-1);
  }

  /** Words of 64 rows: row 63 is the last of the first one. */
  @Test
  void rowsBeyondTheLastWordHaveNotChanged() {
    rows.add(0, 63);
    assertThat(rows.has(0, 63)).isTrue();
    assertThat(rows.has(0, 64)).isFalse();
    assertThat(rows.next(0, 64)).isEqualTo(-1);
    rows.removed(0, 64, 5);
    assertThat(rows.has(0, 63)).isTrue();
    rows.removed(0, 63, 4);
    assertThat(rows.has(0, 63)).isFalse();
    assertThat(rows.removedCount()).isEqualTo(2);
  }

  @Test
  void whatChangesLaterIsAdded_andWhatGoesLaterIsTakenOut() {
    rows.add(0, 1);
    rows.add(0, 2);
    rows.add(1, 3);
    rows.removed(0, 200, 9);
    ChangedRowSet later = new ChangedRowSet();
    later.removed(0, 1, 11);
    later.removed(1, 500, 12);
    later.add(0, 700);
    later.add(2, 5);
    rows.addLater(later);
    assertThat(rows.has(0, 1)).isFalse();
    assertThat(rows.has(0, 2) && rows.has(1, 3) && rows.has(0, 700) && rows.has(2, 5)).isTrue();
    assertThat(rows.size()).isEqualTo(4);
    assertThat(rows.removedIds()).startsWith(9, 11, 12);
    assertThat(rows.removedCount()).isEqualTo(3);
  }

  @Test
  void asManyIdsAreNotedAsTheLimitSays_andNoneBeyondIt() {
    ChangedRowSet later = new ChangedRowSet();
    for (int i = 0; i < ChangedRowSet.REMOVED_MAX - 1; i++) {
      rows.removed(0, 0, i);
    }
    later.removed(0, 0, -1);
    rows.addLater(later);
    assertThat(rows.isWhole()).isTrue();
    assertThat(rows.removedCount()).isEqualTo(ChangedRowSet.REMOVED_MAX);
    rows.addLater(later);
    assertThat(rows.isWhole()).isFalse();
    assertThat(rows.removedCount()).isZero();
    ChangedRowSet fresh = new ChangedRowSet();
    fresh.addLater(rows);
    assertThat(fresh.isWhole()).as("what is not whole makes nothing whole").isFalse();
  }
}
