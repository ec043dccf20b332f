package io.regatta.load.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table in Markdown. For one thread. */
public final class Table {

  private final List<String> lines = new ArrayList<>();

  /** Creates an empty table with these columns. */
  public Table(String... columns) {
    row((Object[]) columns);
    row((Object[]) "-".repeat(columns.length).split(""));
  }

  /** Adds a row; doubles come with three digits, NaN as a dash. */
  public Table row(Object... cells) {
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      texts.add(cell instanceof Double d ? number(d) : String.valueOf(cell));
    }
    lines.add("| " + String.join(" | ", texts) + " |");
    return this;
  }

  /** Returns three digits, at most three after the point. */
  public static String number(double d) {
    if (Double.isNaN(d)) {
      return "–";
    }
    int behind = d >= 100 ? 0 : d >= 10 ? 1 : d >= 1 ? 2 : 3;
    return String.format(Locale.ROOT, "%." + behind + "f", d);
  }

  @Override
  public String toString() {
    return String.join("\n", lines) + "\n";
  }
}
