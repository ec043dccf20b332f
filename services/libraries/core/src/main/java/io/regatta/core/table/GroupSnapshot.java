package io.regatta.core.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.table.TableSnapshot.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * A snapshot of all tables of a group at one moment, that of {@link #begin}, whose cost does not depend on the number
 * of tables. The {@link TableSnapshot} of a table is taken by {@link #advance}, or just before its first change,
 * whichever happens first. This is copy-before-write, by table. Owned by the thread of the group's shard.
 */
public final class GroupSnapshot {

  private final TableGroup group;
  private final Scope scope;
  private final long keptMax;
  /** True if tables noted their changes before this snapshot began. */
  private final boolean noted;
  /** Snapshots by number of the table; null: not taken yet, or the table was created later. */
  private final TableSnapshot[] taken;
  private int next;
  private Throwable failure;

  private GroupSnapshot(TableGroup group, Scope scope, long keptMax) {
    this.group = group;
    this.scope = scope;
    this.keptMax = keptMax;
    noted = group.notes();
    taken = new TableSnapshot[group.capacity()];
  }

  /**
   * Begins a snapshot; the group must not have another one.
   *
   * @param keptMax bytes of rows of each table that may be kept because they changed before they were walked over
   * @throws InvalidInput if a delta is requested and no base has been saved
   */
  public static GroupSnapshot begin(TableGroup group, Scope scope, long keptMax) {
    if (scope == Scope.DELTA && !group.notes()) {
      throw new InvalidInput("no base has been taken of these tables; take a base");
    }
    GroupSnapshot begun = new GroupSnapshot(group, scope, keptMax);
    group.begin(begun, noted(scope, begun.noted));
    return begun;
  }

  private static boolean noted(Scope scope, boolean before) {
    return before || scope != Scope.ALL;
  }

  /**
   * Takes further tables.
   *
   * @param tables how many are looked at, at most
   * @return true if there are more; false if there are none, or if one has failed
   */
  public boolean advance(int tables) {
    int to = (int) Math.min((long) next + tables, taken.length);
    for (; next < to && failure == null; next++) {
      SparseTable t = group.table(next);
      if (t != null) {
        t.noticeMoment();
      }
    }
    return failure == null && next < taken.length;
  }

  /**
   * Takes a table that has not changed since the moment. A failure belongs to this snapshot, not to the caller that
   * changes the table.
   */
  void take(SparseTable table) {
    if (failure != null) {
      return;
    }
    try {
      taken[table.number()] = TableSnapshot.take(table, scope, keptMax);
    } catch (RuntimeException | Error e) { // no memory, say
      failure = e;
    }
  }

  /** Returns why a table could not be taken, which makes this snapshot useless; null if there was no failure. */
  public Throwable failure() {
    return failure;
  }

  /**
   * Returns the snapshots of the tables that existed at the moment, by their numbers; valid once {@link #advance} has
   * returned false.
   */
  public List<TableSnapshot> tables() {
    List<TableSnapshot> all = new ArrayList<>();
    for (TableSnapshot t : taken) {
      if (t != null) {
        all.add(t);
      }
    }
    return all;
  }

  /** Ends this snapshot, whether or not all tables have been taken; see {@link TableSnapshot#end}. */
  public void end(boolean saved) {
    group.end(saved ? noted(scope, noted) : noted);
    for (TableSnapshot t : taken) {
      if (t != null) {
        t.end(saved);
      }
    }
  }
}
