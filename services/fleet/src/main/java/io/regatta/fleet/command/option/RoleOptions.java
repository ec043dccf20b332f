package io.regatta.fleet.command.option;

import io.regatta.fleet.launch.LaunchVariables;
import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.launch.plan.LaunchOptions.Asked;
import io.regatta.fleet.role.LaunchOption;
import io.regatta.fleet.role.LaunchedRole;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options of a launch that choose the processes of each {@link LaunchedRole}. */
public final class RoleOptions {

  private static final int OLD_COUNT = 2;

  /** The options, which follow from the roles. */
  @Mixin
  private CommandSpec spec = spec();

  private static CommandSpec spec() {
    CommandSpec spec = CommandSpec.create();
    for (LaunchedRole role : LaunchedRole.parts()) {
      spec.addOption(option(role.number(), Integer.class)).addOption(option(role.places(), String.class));
    }
    return spec;
  }

  private static OptionSpec option(LaunchOption option, Class<?> type) {
    return OptionSpec.builder(option.names().toArray(String[]::new)).paramLabel(option.label())
        .description(option.description()).type(type).build();
  }

  private <T> T value(LaunchOption option) {
    return spec.findOption(option.name()).getValue();
  }

  /**
   * Returns the processes that were asked for, by role. A role whose options were not given is as the variables say
   * that stand for these: a number goes with a list from the same place.
   *
   * @param old whether roles that a launch needs are two processes each unless anything says otherwise
   */
  public Map<LaunchedRole, Asked> asked(LaunchVariables variables, boolean old) {
    Map<LaunchedRole, Asked> asked = new EnumMap<>(LaunchedRole.class);
    for (LaunchedRole role : LaunchedRole.parts()) {
      Integer number = value(role.number());
      String places = value(role.places());
      if (number == null && places == null) {
        number = variables.number(role.number().name(), null);
        places = variables.text(role.places().name(), null);
      }
      if (number == null && places == null && old && !role.isAuxiliary()) {
        number = OLD_COUNT;
      }
      if (number != null || places != null) {
        asked.put(role, new Asked(number, LaunchOptions.list(places)));
      }
    }
    return asked;
  }

  /** Returns the places that are named, of all roles. */
  public static List<String> places(Map<LaunchedRole, Asked> asked) {
    return asked.values().stream().flatMap(role -> role.places().stream()).toList();
  }
}
