package io.regatta.core.feature;

import java.util.List;

/**
 * A column of several values: a list, or text with separators. Immutable.
 *
 * @param separator between the values of text; empty: text is one value
 * @param weightSeparator between a value and its weight; empty: each weight is 1
 * @param max values at most; further ones are left out
 */
public record IdsFeature(String name, String column, Missing missing, String separator, String weightSeparator, int max,
    Pooling pooling, IdCoding coding) implements Feature {

  public IdsFeature {
    Names.check("the feature", name);
    Names.max(name, max);
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
