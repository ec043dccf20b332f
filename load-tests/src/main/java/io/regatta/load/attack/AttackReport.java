package io.regatta.load.attack;

import io.regatta.load.process.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The attacker's list, as a table: attempts with the same outcome at several targets are one row. Thread-safe. */
final class AttackReport {
  private static final int NAMED_TARGETS = 3;

  private final List<Finding> all = new ArrayList<>();

  synchronized void add(Finding finding) {
    all.add(finding);
  }

  void add(List<Finding> findings) {
    findings.forEach(this::add);
  }

  /** Returns how many attempts have learnt or changed something. */
  synchronized long harmful() {
    return all.stream().filter(finding -> !finding.isHarmless()).count();
  }

  synchronized int attempts() {
    return all.size();
  }

  /** Returns the table in Markdown, in the order in which the outcomes were first added. */
  synchronized String markdown() {
    Map<List<String>, List<String>> rows = new LinkedHashMap<>();
    all.forEach(f -> rows.computeIfAbsent(List.of(f.attempt(), f.answer(), f.presence(), f.learnt(), f.changed()),
        row -> new ArrayList<>()).add(f.target()));
    Table table = new Table("attempt", "at", "answer", "presence", "learnt", "changed");
    rows.forEach((row, targets) -> table.row(cell(row.get(0)), targets(targets), cell(row.get(1)), cell(row.get(2)),
        cell(row.get(3)), cell(row.get(4))));
    return table.toString();
  }

  private static String targets(List<String> targets) {
    List<String> distinct = targets.stream().distinct().toList();
    return distinct.size() <= NAMED_TARGETS ? String.join(", ", distinct) : distinct.size() + " ports";
  }

  private static String cell(String text) {
    return text.isEmpty() ? "nothing" : text.replace("|", "\\|").replaceAll("[^ -~]+", " ");
  }
}
