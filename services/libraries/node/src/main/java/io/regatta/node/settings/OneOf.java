package io.regatta.node.settings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.function.Supplier;

/** The words that a component of type String can have, where another definition has them: lower case, with underscores. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface OneOf {

  /** Source of the words; it has a constructor without arguments. */
  Class<? extends Supplier<List<String>>> value();
}
