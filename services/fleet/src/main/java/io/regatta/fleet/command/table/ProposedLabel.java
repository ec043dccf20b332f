package io.regatta.fleet.command.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.feature.TableLook;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The label that a look at a table proposes. Immutable.
 *
 * @param positive its text that is 1; empty: it is 0 or 1 itself
 * @param share of the positive rows
 * @param others further columns that could be the label
 */
record ProposedLabel(String column, String positive, double share, List<String> others) {

  private static final Pattern NAMES = Pattern.compile("(?i)(is_|has_)?(label|target|y|class|clicks?|clicked|converted|conversion|churn(ed)?|"
      + "survived|bought|purchased?|fraud|spam|default(ed)?|outcome|response|income|deposit|positive|sale)");
  private static final Set<Set<String>> PLAIN = Set.of(Set.of("0", "1"), Set.of("false", "true"), Set.of("0.0", "1.0"));

  /**
   * Finds the label.
   *
   * @param named column that the user names; empty: the likeliest one is taken
   * @param positive text that the user names; empty: the likeliest one is taken
   */
  static ProposedLabel of(TableLook look, String named, String positive) {
    if (!named.isEmpty() && !look.columns().containsKey(named)) {
      throw new InvalidInput("--label: " + look.file() + " has no column " + named + ", only " + look.columns().keySet());
    }
    List<String> candidates = new ArrayList<>();
    if (named.isEmpty()) {
      look.columns().forEach((name, column) -> {
        if (column.values().size() == 2 && column.facts().distinct() == 2 && column.facts().missing() == 0) {
          candidates.add(name);
        }
      });
    } else {
      candidates.add(named);
    }
    if (candidates.isEmpty()) {
      throw new InvalidInput(look.file() + " has no column with just two values, which could be a label; name one with --label, and its "
          + "value that is to be predicted with --positive");
    }
    List<String> all = List.copyOf(look.columns().keySet());
    String label = candidates.stream().filter(name -> NAMES.matcher(name).matches()).findFirst()
        .or(() -> candidates.stream().filter(name -> name.equals(all.get(all.size() - 1))).findFirst())
        .or(() -> candidates.stream().filter(name -> name.equals(all.get(0))).findFirst()).orElse(candidates.get(0));
    candidates.remove(label);
    return ofColumn(look, label, positive, candidates);
  }

  private static ProposedLabel ofColumn(TableLook look, String label, String positive, List<String> others) {
    List<Counted> counted = look.columns().get(label).values();
    List<String> values = counted.stream().map(each -> new String(each.text(), StandardCharsets.UTF_8)).toList();
    if (!positive.isEmpty() && !values.contains(positive)) {
      throw new InvalidInput("--positive: the column " + label + " has no value " + positive + (values.size() > 10 ? "" : ", only " + values));
    }
    if (positive.isEmpty() && values.size() != 2) {
      throw new InvalidInput("the column " + label + " has " + (values.isEmpty() ? "many" : values.size()) + " values, and a label has two; "
          + "name the value that is to be predicted with --positive" + (values.isEmpty() || values.size() > 10 ? "" : ", one of " + values));
    }
    boolean plain = positive.isEmpty() && PLAIN.contains(Set.copyOf(values));
    Optional<String> likely = ProposedFeatures.positives().stream().filter(values::contains).findFirst();
    String one = !positive.isEmpty() ? positive : likely.orElse(values.get(values.size() - 1)); // or the rarer one
    double share = (double) counted.get(values.indexOf(one)).count() / look.rows();
    return new ProposedLabel(label, plain ? "" : one, share, List.copyOf(others));
  }
}
