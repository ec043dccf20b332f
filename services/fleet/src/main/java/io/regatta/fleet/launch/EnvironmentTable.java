package io.regatta.fleet.launch;

import java.util.Map;

/** The environment of a job's first process, in the frame that PaddlePaddle's users know. Stateless. */
final class EnvironmentTable {

  private static final int NAME = 40;
  private static final int VALUE = 45;
  private static final int WIDTH = NAME + 2 + VALUE;
  private static final int TAIL = 41;

  private EnvironmentTable() {}

  /** Returns several lines, each indented by four; without a line end after the last. */
  static String of(Map<String, String> environment) {
    String border = "    +" + "=".repeat(WIDTH) + "+\n";
    StringBuilder table = new StringBuilder(border).append(row("Distributed Envs", "Value"))
        .append("    +").append("-".repeat(WIDTH)).append("+\n");
    environment.forEach((name, value) -> table.append(row(name, value)));
    return table.append(border.stripTrailing()).toString();
  }

  private static String row(String name, String value) {
    String shown = value.length() >= VALUE ? "... " + value.substring(value.length() - TAIL) : value;
    int left = Math.max(0, (VALUE - shown.length()) / 2);
    String centred = " ".repeat(left) + shown + " ".repeat(Math.max(0, VALUE - shown.length() - left));
    return "    |" + " ".repeat(Math.max(0, NAME - name.length())) + name + "  " + centred + "|\n";
  }
}
