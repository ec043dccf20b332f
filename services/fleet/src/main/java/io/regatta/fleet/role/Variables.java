package io.regatta.fleet.role;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Typed access to environment variables. Blank ones count as unset, and spaces around values and list items are dropped:
 * people copy them out of documents. Errors name the variable, or the option
 * that stands for it, and what was read. Immutable.
 */
final class Variables {

  private static final String CHECK = ", please check your environment.";
  private final Map<String, String> values = new HashMap<>();
  /** Options that stand for variables, by these. */
  private final Map<String, String> options;

  /**
   * @param environment variables by name
   * @param arguments values of options that stand for variables, and go before them, by the variables' names
   * @param options the names of those options, by the variables'
   */
  Variables(Map<String, String> environment, Map<String, String> arguments, Map<String, String> options) {
    values.putAll(environment);
    values.putAll(arguments);
    this.options = Map.copyOf(options);
  }

  /** What its user calls it: the option that stands for it, if that was given. */
  String called(String name) {
    return options.getOrDefault(name, name);
  }

  boolean has(String name) {
    return text(name) != null;
  }

  /** Those of these names that are set. */
  List<String> set(String... names) {
    return Stream.of(names).filter(this::has).toList();
  }

  List<String> beginningWith(String prefix) {
    return values.keySet().stream().filter(name -> name.startsWith(prefix) && has(name)).sorted().toList();
  }

  /** Null: unset. */
  String text(String name) {
    String value = values.get(name);
    return value == null || value.isBlank() ? null : value.strip();
  }

  String text(String name, String otherwise) {
    String value = text(name);
    return value == null ? otherwise : value;
  }

  String required(String name) {
    String value = text(name);
    if (value == null) {
      throw new InvalidInput("Can not find " + called(name) + CHECK);
    }
    return value;
  }

  int required(String name, int least) {
    return number(name, required(name), least);
  }

  int number(String name, int least, int otherwise) {
    String value = text(name);
    return value == null ? otherwise : number(name, value, least);
  }

  private int number(String name, String value, int least) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new InvalidInput(called(name) + " must be a whole number of at least " + least + ", but is \"" + value + "\"" + CHECK);
  }

  /** As Python and shells write it: true, false, 1, 0, yes, no, on, off. */
  boolean flag(String name) {
    String value = text(name, "false");
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true", "1", "yes", "on" -> true;
      case "false", "0", "no", "off", "none" -> false;
      default -> throw new InvalidInput(called(name) + " must be True or False, but is \"" + value + "\"" + CHECK);
    };
  }

  /** A comma-separated list; spaces and a comma at the end do not matter. */
  List<String> list(String name, String value) {
    List<String> items = new ArrayList<>();
    for (String item : value.split(",")) {
      if (!item.isBlank()) {
        items.add(item.strip());
      }
    }
    if (items.isEmpty()) {
      throw new InvalidInput(called(name) + " must be a comma-separated list, but is \"" + value + "\"" + CHECK);
    }
    return items;
  }

  /** A list of {@code host:port}, each but once. */
  List<String> endpoints(String name) {
    List<String> endpoints = list(name, required(name));
    for (String endpoint : endpoints) {
      HostPort.parse(endpoint, name);
    }
    if (endpoints.stream().distinct().count() < endpoints.size()) {
      throw new InvalidInput(name + " has an endpoint twice: \"" + String.join(",", endpoints) + "\"" + CHECK);
    }
    return endpoints;
  }

  /** A place among so many. */
  int within(String name, int number, int count, String countName) {
    if (number >= count) {
      throw new InvalidInput(called(name) + " is " + number + ", but " + called(countName) + " says that there are " + count
          + ": from 0 to " + (count - 1) + CHECK);
    }
    return number;
  }
}
