package io.regatta.fleet.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The examples at the end of each command's help. */
class CommandExamplesTest {

  private static final Pattern EXAMPLE = Pattern.compile("regatta [a-z].*");

  private static List<CommandLine> commands(CommandLine command) {
    List<CommandLine> all = new ArrayList<>(List.of(command));
    command.getSubcommands().values().stream().distinct().filter(sub -> !sub.getCommandSpec().usageMessage().hidden()
        && !sub.getCommandName().equals("help")).forEach(sub -> all.addAll(commands(sub)));
    return all;
  }

  @Test
  void every_command_has_an_example_of_itself_and_all_examples_can_be_parsed() {
    List<CommandLine> all = commands(Regatta.commandLine(null));
    assertThat(all).hasSizeGreaterThan(20);
    for (CommandLine command : all) {
      String footer = String.join("\n", command.getCommandSpec().usageMessage().footer());
      String name = command.getCommandSpec().qualifiedName();
      assertThat(footer).as(name).containsPattern(Pattern.quote(name) + "\\b");
      Matcher example = EXAMPLE.matcher(footer);
      while (example.find()) {
        String line = example.group().replaceAll("\\)$", "");
        List<String> words = List.of(line.split("\\s+"));
        assertThatCode(() -> Regatta.commandLine(null).parseArgs(words.subList(1, words.size()).toArray(String[]::new)))
            .as(line).doesNotThrowAnyException();
      }
    }
  }
}
