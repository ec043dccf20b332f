package io.regatta.fleet.command.table;

import io.regatta.data.column.ColumnFacts;
import io.regatta.data.column.ColumnFacts.Type;
import io.regatta.data.column.TextShape;
import io.regatta.data.feature.TableLook;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The features that a look at a table proposes, as lines of YAML. One thread. */
final class ProposedFeatures {

  /** Distinct whole numbers up to which each is a value of its own. */
  private static final int FEW = 20;
  private static final double WORDS_OF_TEXT = 3;
  private static final double SKEWED = 20;
  private static final Pattern IDENTIFIER = Pattern.compile("(?i)(.*[_ .-])?(id|ids|uuid|guid|key|code|zip|hash|index|row)|.*Id");
  private static final Pattern TIME = Pattern.compile("(?i).*(time|date|stamp|created|updated|_at|_ts)|ts");
  private static final double EPOCH_SECONDS_MIN = 9e8;
  private static final double EPOCH_SECONDS_MAX = 4e9;
  /** Patterns of times beside ISO 8601. */
  private static final Map<String, String> PATTERNS = new LinkedHashMap<>();

  static {
    PATTERNS.put("\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[-+]\\d\\d:\\d\\d)?)?", "iso");
    PATTERNS.put("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d", "yyyy-MM-dd HH:mm:ss");
    PATTERNS.put("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}", "yyyy-MM-dd HH:mm:ss.SSS");
    PATTERNS.put("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d", "yyyy-MM-dd HH:mm");
  }

  private final StringBuilder lines = new StringBuilder();
  private final long rows;
  private int count;
  private String orderedBy = "";
  private String time = "";

  ProposedFeatures(TableLook look, String label) {
    rows = look.rows();
    look.columns().forEach((name, column) -> {
      if (!name.equals(label)) {
        add(name, column);
      }
    });
  }

  /** Returns the lines of the section, indented. */
  String lines() {
    return lines.toString();
  }

  /** Returns the number of features. */
  int count() {
    return count;
  }

  /** Returns a column of times in whose order the rows are; empty: there is none. */
  String orderedBy() {
    return orderedBy;
  }

  /** Returns a column of times; empty: there is none. */
  String time() {
    return time;
  }

  private void add(String name, TableLook.Column column) {
    ColumnFacts facts = column.facts();
    lines.append("  # ").append(Yaml.line(name)).append(": ").append(description(column)).append('\n');
    Optional<String> format = timeFormat(name, column);
    if (facts.isEmpty() || facts.isConstant()) {
      leftOut(facts.isEmpty() ? "it has no value" : "it has the same value in all rows");
    } else if (facts.givesLabelAway()) {
      leftOut(String.format(Locale.ROOT, "it gives the label away (AUC %.3f alone); is it known when a prediction is wanted?", facts.labelAuc()));
    } else if (format.isPresent()) {
      time(name, column, format.get());
    } else if (facts.type() == Type.TIME) {
      leftOut("it begins with a date, but its form is not known; which is it? (kind: time, format: PATTERN)");
    } else if (facts.type() == Type.LIST) {
      put(name, "", "kind: ids, pooling: mean");
    } else if (facts.type() == Type.TEXT) {
      text(name, column);
    } else if (facts.type() == Type.WHOLE && facts.distinct() <= FEW) {
      put(name, "", "kind: id, whole: true");
    } else if (facts.type() == Type.WHOLE && IDENTIFIER.matcher(name).matches()) {
      identifier(name, facts);
    } else {
      number(name, facts);
    }
  }

  private void time(String name, TableLook.Column column, String format) {
    time = name;
    orderedBy = column.shape().ascending() ? name : orderedBy;
    boolean day = column.facts().type() == Type.TIME && !column.shape().example().contains(":");
    put(name, "", "kind: time" + (format.equals("iso") ? "" : ", format: " + Yaml.scalar(format)) + ", parts: "
        + (day ? "[weekday, month]" : "[hour, weekday]") + ", zone: UTC");
    lines.append("  #   which time zone is it?\n");
  }

  private void text(String name, TableLook.Column column) {
    TextShape shape = column.shape();
    if (!shape.separator().isEmpty()) {
      put(name, "", "kind: ids, separator: " + Yaml.scalar(shape.separator()) + ", max: " + Math.min(50, shape.partsMax())
          + ", pooling: mean" + rare(column.facts()));
    } else if (shape.words() >= WORDS_OF_TEXT && column.facts().distinct() > FEW) {
      put(name, "", "kind: text, max: 30, pooling: mean" + (rows < 100 ? "" : ", min_count: 2"));
    } else {
      identifier(name, column.facts());
    }
  }

  private void identifier(String name, ColumnFacts facts) {
    if (facts.isUnique()) {
      leftOut("it has a value of its own in nearly every row, of which nothing can be learned");
    } else {
      put(name, "", "kind: id" + rare(facts));
    }
  }

  /** Returns the least count of values that are not rare; none for columns of few values. */
  private String rare(ColumnFacts facts) {
    return facts.distinct() <= FEW ? "" : ", min_count: " + (rows < 100_000 ? 3 : 10);
  }

  private void number(String name, ColumnFacts facts) {
    ColumnFacts.Numbers numbers = facts.numbers().orElseThrow();
    double median = numbers.quantiles().get(2);
    boolean skewed = numbers.min() >= 0 && numbers.quantiles().get(4) > SKEWED * Math.max(median, 1e-9);
    put(name, "", "kind: number" + (skewed ? ", transform: log" : ""));
    put(name + " bucket", name, "kind: bucket, quantiles: "
        + (facts.distinct() <= FEW || rows >= 20_000 ? 20 : rows < 5000 ? 5 : 10));
  }

  private void leftOut(String why) {
    lines.append("  #   left out: ").append(why).append('\n');
  }

  /** @param column empty: the feature's name */
  private void put(String feature, String column, String keys) {
    String name = feature.replace('=', '_').replaceAll("\\p{Cntrl}", "_");
    String reads = column.isEmpty() && !name.equals(feature) ? feature : column;
    lines.append("  ").append(Yaml.scalar(name)).append(": {").append(keys).append(reads.isEmpty() ? "" : ", column: "
        + Yaml.scalar(reads)).append("}\n");
    count++;
  }

  private static Optional<String> timeFormat(String name, TableLook.Column column) {
    ColumnFacts facts = column.facts();
    if (facts.type() == Type.TIME) {
      return PATTERNS.entrySet().stream().filter(each -> column.shape().example().matches(each.getKey())).map(Map.Entry::getValue)
          .findFirst();
    }
    if (facts.type() != Type.WHOLE || facts.numbers().isEmpty() || !TIME.matcher(name).matches()) {
      return Optional.empty();
    }
    double least = facts.numbers().get().min();
    double most = facts.numbers().get().max();
    return least > EPOCH_SECONDS_MIN && most < EPOCH_SECONDS_MAX ? Optional.of("epoch_s")
        : least > EPOCH_SECONDS_MIN * 1000 && most < EPOCH_SECONDS_MAX * 1000 ? Optional.of("epoch_ms") : Optional.empty();
  }

  private String description(TableLook.Column column) {
    ColumnFacts facts = column.facts();
    StringBuilder text = new StringBuilder(switch (facts.type()) {
      case EMPTY -> "no values";
      case WHOLE -> "whole numbers";
      case NUMBER -> "numbers";
      case TIME -> "times";
      case TEXT -> "text";
      case LIST -> "lists";
    });
    facts.numbers().filter(numbers -> facts.type() == Type.WHOLE || facts.type() == Type.NUMBER).ifPresent(numbers ->
        text.append(String.format(Locale.ROOT, " %s to %s, median %s", Yaml.number(numbers.min()), Yaml.number(numbers.max()),
            Yaml.number(numbers.quantiles().get(2)))));
    boolean counted = !column.values().isEmpty();
    text.append(counted || facts.distinctError() == 0 ? ", " : ", about ").append(counted ? column.values().size() : facts.distinct())
        .append(" distinct");
    if (facts.missing() > 0) {
      text.append(String.format(Locale.ROOT, ", %.1f %% missing", 100.0 * facts.missing() / facts.rows()));
    }
    if (facts.type() == Type.TEXT && !column.values().isEmpty()) {
      text.append(", such as ").append(column.values().stream().limit(3)
          .map(each -> Yaml.line(new String(each.text(), StandardCharsets.UTF_8))).collect(Collectors.joining(", ")));
    }
    return text.toString();
  }

  /** Returns the texts that a label may have as its positive class, most likely first. */
  static List<String> positives() {
    return List.of("1", "1.0", "true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "t", "T", "positive", "pos", ">50K", "spam", "churned");
  }
}
