package io.regatta.fleet.role;

import java.util.List;

/**
 * An option of a launch. Immutable.
 *
 * @param names the first one is the name in messages
 * @param label of its value, for the help
 * @param description for the help
 * @param variables environment variables that stand for the option if it is not given; the first that is set counts
 */
public record LaunchOption(List<String> names, String label, String description, List<String> variables) {

  public LaunchOption {
    names = List.copyOf(names);
    variables = List.copyOf(variables);
  }

  /** Returns the first name. */
  public String name() {
    return names.get(0);
  }

  /** Returns the first name without the dashes, as PaddlePaddle's messages have it. */
  public String bareName() {
    return name().substring(2);
  }
}
