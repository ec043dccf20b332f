package io.regatta.fleet.command.option;

import io.regatta.fleet.process.Service.Helper;
import io.regatta.fleet.process.Services;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Options that every kind of helper has one of. Stateless. */
final class HelperOptions {

  private HelperOptions() {}

  /**
   * Returns a mixin with an option for each kind.
   *
   * @param name returns its name
   * @param description returns its description
   */
  static CommandSpec of(Function<Helper<?>, String> name, String label, Function<Helper<?>, String> description) {
    CommandSpec spec = CommandSpec.create();
    Services.helpers().forEach(service -> spec.addOption(OptionSpec.builder(name.apply(service.helper())).paramLabel(label)
        .description(description.apply(service.helper())).type(String.class).build()));
    return spec;
  }
}
