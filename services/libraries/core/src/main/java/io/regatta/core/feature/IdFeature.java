package io.regatta.core.feature;

import java.util.List;

/** A column whose text or whole number is one id. Immutable. */
public record IdFeature(String name, String column, Missing missing, IdCoding coding) implements Feature {

  public IdFeature {
    Names.check("the feature", name);
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
