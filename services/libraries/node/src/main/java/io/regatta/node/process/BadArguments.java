package io.regatta.node.process;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.commons.text.similarity.LevenshteinDistance;
import picocli.CommandLine;

/** Messages for a wrong command line: the fault, and the probable intention. Stateless, any thread. */
public final class BadArguments {

  private static final int TYPOS = 2;
  /** Shorter options resemble too many others. */
  private static final int SHORT = 4;

  private BadArguments() {}

  /** Describes the fault in a few words, for the one line that is printed. */
  public static String words(CommandLine.ParameterException e) {
    if (!(e instanceof CommandLine.UnmatchedArgumentException unmatched) || unmatched.getUnmatched().isEmpty()) {
      return e.getMessage();
    }
    String argument = unmatched.getUnmatched().get(0);
    if (!argument.startsWith("-")) {
      return "'" + argument + "' is one argument too many";
    }
    String option = argument.contains("=") ? argument.substring(0, argument.indexOf('=')) : argument;
    List<String> known = e.getCommandLine().getCommandSpec().optionsMap().keySet().stream()
        .filter(name -> name.length() >= SHORT).toList();
    return "there is no option '" + option + "'"
        + nearest(known, option).map(meant -> "; the nearest one is '" + meant + "'")
        .orElse("");
  }

  /** Returns the word that was probably meant, if there is one. */
  public static Optional<String> nearest(Collection<String> known, String word) {
    LevenshteinDistance distance = new LevenshteinDistance(TYPOS);
    return word.length() <= TYPOS ? Optional.empty() : known.stream().filter(name -> distance.apply(word, name) >= 0)
        .min(Comparator.comparingInt(name -> distance.apply(word, name)));
  }
}
