package io.regatta.fleet.role;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Typed access to environment variables. Blank ones count as unset, and spaces around values and list items are dropped:
 * people copy them out of documents. Errors name the variable, or the option
 * that stands for it, and what was read. Immutable.
 */
final class Variables {

  private static final int MOST_PORT = 65_535;
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
    return names(name -> name.startsWith(prefix));
  }

  /** Those that are set and have such a name, in the order of their names. */
  List<String> names(Predicate<String> wanted) {
    return values.keySet().stream().filter(name -> wanted.test(name) && has(name)).sorted().toList();
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

  /**
   * A list of hosts, each but once, whose port is another variable's; IPv6 addresses may have brackets, which are dropped.
   *
   * @param value of the list
   * @param port the name of that variable
   */
  List<String> hosts(String name, String value, String port) {
    List<String> hosts = list(name, value).stream().map(item -> host(name, item, port)).toList();
    if (hosts.stream().distinct().count() < hosts.size()) {
      throw new InvalidInput(called(name) + " has a host twice: \"" + String.join(",", hosts) + "\"" + CHECK);
    }
    return hosts;
  }

  /** One host, as in {@link #hosts}. */
  String host(String name, String value, String port) {
    String host = value.startsWith("[") && value.endsWith("]") ? value.substring(1, value.length() - 1) : value;
    boolean address6 = host.indexOf(':') != host.lastIndexOf(':');
    if (host.isEmpty() || host.matches(".*[\\s\\[\\]/].*") || host.contains(":") && !address6) {
      throw new InvalidInput(called(name) + ": expected a host without a port, which is " + called(port) + "'s, got \"" + value
          + "\"" + CHECK);
    }
    return host;
  }

  /** A port, or what holds without. */
  int port(String name, int otherwise) {
    int port = number(name, 1, otherwise);
    if (port > MOST_PORT) {
      throw new InvalidInput(called(name) + " must be a port, from 1 to " + MOST_PORT + ", but is \"" + port + "\"" + CHECK);
    }
    return port;
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
