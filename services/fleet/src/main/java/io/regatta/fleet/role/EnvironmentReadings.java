package io.regatta.fleet.role;

import io.regatta.node.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The keys, readings and notes that have been found in an environment so far. Confined to its reader's thread. */
final class EnvironmentReadings {

  private final UnaryOperator<String> called;
  private final List<Settings.Option> options = new ArrayList<>();
  private final List<RoleEnvironment.Reading> readings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /**
   * Creates an empty record.
   *
   * @param called returns the option that stands for a variable, or the variable itself
   */
  EnvironmentReadings(UnaryOperator<String> called) {
    this.called = called;
  }

  private String origin(String variable) {
    String name = called.apply(variable);
    return name.equals(variable) ? "environment variable " + variable : name;
  }

  /** Records that a variable stands for a key. */
  void key(String variable, String read, String key, Object value) {
    options.add(new Settings.Option(origin(variable), key, value.toString()));
    reading(variable, read, key + " = " + value);
  }

  /** Records a key that follows from a variable without being its own value. */
  void implied(String variable, String key, Object value) {
    options.add(new Settings.Option(origin(variable), key, value.toString()));
    readings.replaceAll(reading -> reading.variable().equals(variable) ? new RoleEnvironment.Reading(variable, reading.value(),
        reading.meaning() + ", " + key + " = " + value) : reading);
  }

  /** Records a key that follows from a variable, which may have been read for another key. */
  void also(String variable, String key, Object value) {
    if (hasRead(variable)) {
      implied(variable, key, value);
    } else {
      key(variable, value.toString(), key, value);
    }
  }

  /** Records a variable that has been read, and its effect. */
  void reading(String variable, String read, String meaning) {
    readings.add(new RoleEnvironment.Reading(variable, read, meaning));
  }

  /** Returns true if the variable has been read, even without an effect. */
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
