package io.regatta.fleet.role;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Typed access to environment variables. Confined to its reader's thread. Blank ones count as unset, and spaces around
 * values and list items are dropped: people copy them out of documents. Errors name the variable, or the option that
 * stands for it, and the value. The first error ends the reading, unless {@link #collecting}.
 */
final class EnvironmentVariables {

  private static final int MOST_PORT = 65_535;
  /** Value in place of a wrong one. */
  private static final String ANY_HOST = "127.0.0.1";
  private static final String CHECK = ", please check your environment.";
  private final Map<String, String> values = new HashMap<>();
  /** Options by the variables for which they stand. */
  private final Map<String, String> options;
  /** Errors by variable, if all are collected; else null. */
  private Map<String, String> wrong;

  /**
   * Creates access to an environment.
   *
   * @param environment variables by name
   * @param arguments values of options that stand for variables, and take precedence over them, by the variables' names
   * @param options the names of those options, by the variables'
   */
  EnvironmentVariables(Map<String, String> environment, Map<String, String> arguments, Map<String, String> options) {
    values.putAll(environment);
    values.putAll(arguments);
    this.options = Map.copyOf(options);
  }

  /** Collects errors from now on, and reads another value in place of each wrong one. */
  EnvironmentVariables collecting() {
    wrong = new LinkedHashMap<>();
    return this;
  }

  /** Returns the errors that have been collected, a line for each variable. */
  List<String> wrong() {
    return List.copyOf(wrong.values());
  }

  /** Returns true if no error has been found with any of these: only then can one be compared with another. */
  boolean areRight(String... names) {
    return wrong == null || Stream.of(names).noneMatch(wrong::containsKey);
  }

  /**
   * Reports that a variable is wrong.
   *
   * @return the value in its place, if errors are collected
   * @throws InvalidInput if they are not
   */
  <T> T wrong(String name, String message, T instead) {
    if (wrong == null) {
      throw new InvalidInput(message);
    }
    wrong.putIfAbsent(name, message);
    return instead;
  }

  /** Returns the user's name of a variable: the option that stands for it, if that was given. */
  String called(String name) {
    return options.getOrDefault(name, name);
  }

  boolean has(String name) {
    return text(name) != null;
  }

  /** Returns those of these names that are set. */
  List<String> set(String... names) {
    return Stream.of(names).filter(this::has).toList();
  }

  List<String> beginningWith(String prefix) {
    return names(name -> name.startsWith(prefix));
  }

  /** Returns the set variables with such a name, in the order of their names. */
  List<String> names(Predicate<String> wanted) {
    return values.keySet().stream().filter(name -> wanted.test(name) && has(name)).sorted().toList();
  }

  /** Returns the value; null: unset. */
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
    return value != null ? value : wrong(name, "Can not find " + called(name) + CHECK, "");
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
    return wrong(name, called(name) + " must be a whole number of at least " + least + ", but is \"" + value + "\"" + CHECK, least);
  }

  /** Reads a flag as Python and shells write it: true, false, 1, 0, yes, no, on, off. */
  boolean flag(String name) {
    String value = text(name, "false");
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true", "1", "yes", "on" -> true;
      case "false", "0", "no", "off", "none" -> false;
      default -> wrong(name, called(name) + " must be True or False, but is \"" + value + "\"" + CHECK, false);
    };
  }

  /** Reads a comma-separated list; spaces and a comma at the end do not matter. */
  List<String> list(String name, String value) {
    List<String> items = new ArrayList<>();
    for (String item : value.split(",")) {
      if (!item.isBlank()) {
        items.add(item.strip());
      }
    }
    return !items.isEmpty() ? items
        : wrong(name, called(name) + " must be a comma-separated list, but is \"" + value + "\"" + CHECK, List.of(ANY_HOST));
  }

  /** Reads a list of {@code host:port}, in which none may occur twice. */
  List<String> endpoints(String name) {
    List<String> endpoints = list(name, required(name));
    if (areRight(name)) {
      endpoints.forEach(endpoint -> endpoint(name, endpoint));
    }
    if (areRight(name) && endpoints.stream().distinct().count() < endpoints.size()) {
      wrong(name, name + " has an endpoint twice: \"" + String.join(",", endpoints) + "\"" + CHECK, endpoints);
    }
    return endpoints;
  }

  /** Checks a {@code host:port} that this variable has. */
  void endpoint(String name, String endpoint) {
    try {
      HostPort.parse(endpoint, name);
    } catch (InvalidInput e) {
      wrong(name, e.getMessage(), endpoint);
    }
  }

  /**
   * Reads a list of hosts, in which none may occur twice, and whose port is another variable's; IPv6 addresses may have
   * brackets, which are dropped.
   *
   * @param value of the list
   * @param port the name of that variable
   */
  List<String> hosts(String name, String value, String port) {
    List<String> hosts = list(name, value).stream().map(item -> host(name, item, port)).toList();
    return hosts.stream().distinct().count() == hosts.size() ? hosts
        : wrong(name, called(name) + " has a host twice: \"" + String.join(",", hosts) + "\"" + CHECK, hosts);
  }

  /** Reads one host, as in {@link #hosts}. */
  String host(String name, String value, String port) {
    String host = value.startsWith("[") && value.endsWith("]") ? value.substring(1, value.length() - 1) : value;
    boolean address6 = host.indexOf(':') != host.lastIndexOf(':');
    if (host.isEmpty() || host.matches(".*[\\s\\[\\]/].*") || host.contains(":") && !address6) {
      return wrong(name, called(name) + ": expected a host without a port, which is " + called(port) + "'s, got \"" + value
          + "\"" + CHECK, ANY_HOST);
    }
    return host;
  }

  /** Reads a port, or returns the default. */
  int port(String name, int otherwise) {
    int port = number(name, 1, otherwise);
    return port <= MOST_PORT ? port
        : wrong(name, called(name) + " must be a port, from 1 to " + MOST_PORT + ", but is \"" + port + "\"" + CHECK, MOST_PORT);
  }

  /** Returns an index, which must be below {@code count}. */
  int within(String name, int number, int count, String countName) {
    if (number < count) {
      return number;
    }
    return !areRight(name, countName) ? 0 : wrong(name, called(name) + " is " + number + ", but " + called(countName)
        + " says that there are " + count + ": from 0 to " + (count - 1) + CHECK, 0);
  }
}
