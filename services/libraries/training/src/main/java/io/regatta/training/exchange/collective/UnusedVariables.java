package io.regatta.training.exchange.collective;

import io.regatta.core.model.DenseVariable;
import java.nio.FloatBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log of the variables that have no gradient in a step, on one rank or on all, once for every change of that set. A
 * branch of the network that a batch does not take is ordinary; a forgotten layer is not. Belongs to a model thread.
 */
final class UnusedVariables {

  private static final Logger LOG = LoggerFactory.getLogger(UnusedVariables.class);
  /** Most logged changes: a set that changes in every step must not fill the log. */
  private static final int CHANGES_LOGGED = 10;
  private static final int NAMES_LOGGED = 10;

  private final Supplier<String> who;
  private final List<DenseVariable> variables;
  private BitSet own = new BitSet();
  private BitSet all = new BitSet();
  private int changes;

  /** @param who returns the name of this trainer, for messages */
  UnusedVariables(Supplier<String> who, List<DenseVariable> variables) {
    this.who = who;
    this.variables = variables;
  }

  /** Returns the number of all variables. */
  int variables() {
    return variables.size();
  }

  /** Notes the variables of which this rank has a gradient in this step; none if it does not step. */
  void own(BitSet fresh, long step) {
    BitSet without = (BitSet) fresh.clone();
    without.flip(0, variables.size());
    if (!fresh.isEmpty() && !without.equals(own)) {
      own = without;
      log(without, step, "this trainer");
    }
  }

  /**
   * Notes the variables of which any rank has a gradient.
   *
   * @param counts of ranks that have a gradient, by variable, from index {@code from} on
   * @param stepping number of ranks that step
   */
  void all(FloatBuffer counts, int from, double stepping, long step) {
    BitSet without = new BitSet();
    for (int v = 0; v < variables.size(); v++) {
      without.set(v, counts.get(from + v) == 0);
    }
    if (!without.equals(all)) {
      all = without;
      log(without, step, "any of the " + (int) stepping + " trainers");
    }
  }

  private void log(BitSet without, long step, String source) {
    if (++changes > CHANGES_LOGGED) {
      return;
    }
    List<String> names = names(without);
    LOG.warn("{}, step {}: {}{}", who.get(), step, names.isEmpty() ? "all variables have a gradient again from " + source
        : names.size() + " of " + variables.size() + " variables have no gradient from " + source + ", which counts as zero: "
            + names.subList(0, Math.min(NAMES_LOGGED, names.size())) + (names.size() > NAMES_LOGGED ? " ..." : ""),
        changes == CHANGES_LOGGED ? " (further changes are not logged)" : "");
  }

  private List<String> names(BitSet of) {
    return of.stream().mapToObj(v -> variables.get(v).name()).toList();
  }
}
