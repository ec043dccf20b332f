package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * A column of text, as the ids of its words and of runs of words. Words are runs of letters and digits in lower case.
 * Which characters are letters depends on the Unicode version of the Java release. Immutable.
 *
 * @param ngrams longest run of words that has an id, joined by one space
 * @param max ids at most; further ones are left out
 */
public record TextFeature(String name, String column, Missing missing, int ngrams, int max, Pooling pooling, IdCoding coding)
    implements Feature {

  public TextFeature {
    Names.check("the feature", name);
    Names.max(name, max);
    if (ngrams < 1) {
      throw new InvalidInput("the feature " + name + " has runs of " + ngrams + " words: it must be 1 or more");
    }
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
