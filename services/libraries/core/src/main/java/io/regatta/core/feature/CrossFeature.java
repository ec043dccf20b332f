package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * The combination of two or more fields of one id each, as one id. The order of the fields matters. Immutable.
 *
 * @param namespace seed of the ids
 * @param of fields: ids, buckets, parts of times, crosses
 */
public record CrossFeature(String name, String namespace, List<String> of) implements Feature {

  public CrossFeature {
    of = List.copyOf(of);
    Names.check("the feature", name);
    Names.check("the namespace", namespace);
    if (of.size() < 2) {
      throw new InvalidInput("the feature " + name + " crosses " + of + ": give 2 features or more");
    }
  }

  @Override
  public List<String> columns() {
    return List.of();
  }
}
