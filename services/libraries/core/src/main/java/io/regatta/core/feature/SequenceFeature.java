package io.regatta.core.feature;

import java.util.List;

/**
 * A column of several values in order: a list, or text with separators. Immutable.
 *
 * @param separator between the values of text; empty: text is one value
 * @param max values at most
 * @param keep the values that stay if there are more
 */
public record SequenceFeature(String name, String column, Missing missing, String separator, int max, Keep keep,
    IdCoding coding) implements Feature {

  /** The end of a sequence that stays if it is too long. */
  public enum Keep { FIRST, LAST }

  public SequenceFeature {
    Names.check("the feature", name);
    Names.max(name, max);
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
