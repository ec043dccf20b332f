package io.regatta.load.turns;

import io.regatta.load.process.Table;
import java.util.ArrayList;
import java.util.List;

/**
 * The times of a shard's time slices, kind by kind, with the verdict whether all kept within the limit. For one thread.
 */
final class TurnReport {

  /** CPU time that no time slice may exceed, in milliseconds. */
  private static final double LIMIT_MILLIS = 5;

  private final Table table = new Table("operation", "turns", "rows per turn", "mean ms", "99.9 % ms", "worst ms",
      "mean CPU ms", "99.9 % CPU ms", "worst CPU ms");
  private final List<String> tooLong = new ArrayList<>();

  void add(TurnTimes turns, String operation, long rows) {
    turns.print(table, operation, rows);
    if (turns.worstCpuMillis() > LIMIT_MILLIS) {
      tooLong.add(operation + " (" + Table.number(turns.worstCpuMillis()) + " ms)");
    }
  }

  /** Returns the table, and a last line with the verdict. */
  @Override
  public String toString() {
    String limit = Table.number(LIMIT_MILLIS) + " ms of CPU time";
    return table + "\n" + (tooLong.isEmpty() ? "All turns took at most " + limit + "."
        : "Longer than " + limit + ": " + String.join(", ", tooLong) + ".") + "\n";
  }
}
