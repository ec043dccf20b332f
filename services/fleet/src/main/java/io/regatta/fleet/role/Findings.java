package io.regatta.fleet.role;

import io.regatta.node.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** What has been found in an environment so far. Confined to its reader's thread. */
final class Findings {

  private final UnaryOperator<String> called;
  private final List<Settings.Option> options = new ArrayList<>();
  private final List<RoleEnvironment.Reading> readings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /** @param called the option that stands for a variable, or itself */
  Findings(UnaryOperator<String> called) {
    this.called = called;
  }

  private String origin(String variable) {
    String name = called.apply(variable);
    return name.equals(variable) ? "environment variable " + variable : name;
  }

  /** A variable stands for a key. */
  void key(String variable, String read, String key, Object value) {
    options.add(new Settings.Option(origin(variable), key, value.toString()));
    reading(variable, read, key + " = " + value);
  }

  /** A key that follows without being a variable's own value. */
  void implied(String variable, String key, Object value) {
    options.add(new Settings.Option(origin(variable), key, value.toString()));
    readings.replaceAll(reading -> reading.variable().equals(variable) ? new RoleEnvironment.Reading(variable, reading.value(),
        reading.meaning() + ", " + key + " = " + value) : reading);
  }

  /** A key that follows from a variable, which may have been looked at for another one. */
  void also(String variable, String key, Object value) {
    if (hasRead(variable)) {
      implied(variable, key, value);
    } else {
      key(variable, value.toString(), key, value);
    }
  }

  /** A variable that is looked at, and what came of it. */
  void reading(String variable, String read, String meaning) {
    readings.add(new RoleEnvironment.Reading(variable, read, meaning));
  }

  /** Whether it has come to something, be it to nothing. */
  boolean hasRead(String variable) {
    return readings.stream().anyMatch(reading -> reading.variable().equals(variable));
  }

  void note(String line) {
    notes.add(line);
  }

  List<Settings.Option> options() {
    return options;
  }

  List<RoleEnvironment.Reading> readings() {
    return readings;
  }

  List<String> notes() {
    return notes;
  }
}
