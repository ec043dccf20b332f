package io.regatta.fleet.command.option;

import io.regatta.fleet.process.Service.Auxiliary;
import io.regatta.fleet.process.Services;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Options that every kind of auxiliary services has one of. Stateless. */
final class AuxiliaryOptions {

  private AuxiliaryOptions() {}

  /**
   * Returns a mixin with an option for each kind.
   *
   * @param name returns its name
   * @param description returns its description
   */
  static CommandSpec of(Function<Auxiliary<?>, String> name, String label, Function<Auxiliary<?>, String> description) {
    CommandSpec spec = CommandSpec.create();
    Services.auxiliaries().forEach(service -> spec.addOption(OptionSpec.builder(name.apply(service.auxiliary()))
        .paramLabel(label)
        .description(description.apply(service.auxiliary())).type(String.class).build()));
    return spec;
  }
}
