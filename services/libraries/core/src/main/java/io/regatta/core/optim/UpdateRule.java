package io.regatta.core.optim;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The words about an {@link Optimizer} that the reference page has beside its hyperparameters and slots. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface UpdateRule {

  /** The rule; w is a weight, g its gradient, η the learning rate, t the number of updates. */
  String formula();

  /** The paper. */
  String source();
}
