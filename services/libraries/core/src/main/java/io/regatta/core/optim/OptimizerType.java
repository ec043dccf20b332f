package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.Hyperparameter.Range;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The description of one optimizer, read once from its record: its name and its hyperparameters by key. It makes
 * optimizers from values by key, and the other way round. Immutable, any thread.
 */
public final class OptimizerType {

  /**
   * A hyperparameter.
   *
   * @param key in files and on the wire
   * @param isFlag true for a boolean, false for a float
   * @param defaultText the default, as in a file
   * @param range of a float
   * @param doc meaning
   */
  public record Parameter(String key, boolean isFlag, String defaultText, Range range, String doc) {

    Object value(Object given) {
      if (isFlag && given instanceof Boolean) {
        return given;
      }
      return !isFlag && given instanceof Number number ? (Object) number.floatValue() : null;
    }

    Object defaultValue() {
      return isFlag ? (Object) Boolean.valueOf(defaultText) : (Object) Float.valueOf(defaultText);
    }
  }

  private final String name;
  private final UpdateRule rule;
  private final Class<? extends Optimizer> record;
  private final Constructor<? extends Optimizer> constructor;
  private final RecordComponent[] components;
  private final List<Parameter> parameters;

  /** Reads a record that implements {@link Optimizer}. */
  OptimizerType(Class<? extends Optimizer> record) {
    this.record = record;
    name = snake(record.getSimpleName());
    rule = record.getAnnotation(UpdateRule.class);
    components = record.getRecordComponents();
    parameters = Arrays.stream(components).map(OptimizerType::parameter).toList();
    try {
      constructor = record.getConstructor(
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(record + " must be a public record", e);
    }
  }

  private static Parameter parameter(RecordComponent c) {
    Hyperparameter h = c.getAnnotation(Hyperparameter.class);
    if (h == null || c.getType() != float.class && c.getType() != boolean.class) {
      throw new IllegalStateException(c.getDeclaringRecord() + "." + c.getName()
          + " must be a float or a boolean with an annotation Hyperparameter");
    }
    return new Parameter(snake(c.getName()), c.getType() == boolean.class, h.value(), h.range(), h.doc());
  }

  private static String snake(String camel) {
    return camel.replaceAll("(?<=.)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  /** Returns the name in files, messages and on the wire, for example {@code adam}. */
  public String name() {
    return name;
  }

  /** Returns the rule and its source, for the reference page. */
  public UpdateRule rule() {
    return rule;
  }

  /** Returns the hyperparameters in their order. */
  public List<Parameter> parameters() {
    return parameters;
  }

  /** Returns true if an update needs norms over whole tensors, so that no variable may be cut over shards. */
  public boolean needsWholeTensors() {
    return TensorwiseOptimizer.class.isAssignableFrom(record);
  }

  /** Returns true if this describes an optimizer. */
  boolean holds(Optimizer optimizer) {
    return record == optimizer.getClass();
  }

  /** Returns the optimizer with all hyperparameters at their defaults. */
  public Optimizer defaults() {
    return of(Map.of());
  }

  /**
   * Makes an optimizer.
   *
   * @param values hyperparameters by key, numbers or booleans; missing ones get their defaults
   * @throws InvalidInput for an unknown key or a value that is not allowed
   */
  public Optimizer of(Map<String, ?> values) {
    for (String key : values.keySet()) {
      if (parameters.stream().noneMatch(p -> p.key().equals(key))) {
        throw new InvalidInput("optimizer " + name + " has no hyperparameter '" + key + "'; it has "
            + parameters.stream().map(Parameter::key).toList());
      }
    }
    List<Object> arguments = new ArrayList<>();
    for (Parameter p : parameters) {
      Object given = values.get(p.key());
      Object value = given == null ? p.defaultValue() : p.value(given);
      if (value == null) {
        throw new InvalidInput("optimizer " + name + ": " + p.key() + " is " + given + ", it must be "
            + (p.isFlag() ? "true or false" : "a number"));
      }
      check(p, value);
      arguments.add(value);
    }
    try {
      return constructor.newInstance(arguments.toArray());
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof InvalidInput refused) {
        throw refused;
      }
      throw new IllegalStateException("cannot make an optimizer " + name, e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot make an optimizer " + name, e);
    }
  }

  /** Returns an optimizer's hyperparameters by key, in their order: floats and booleans. */
  public Map<String, Object> values(Optimizer optimizer) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (int i = 0; i < components.length; i++) {
      try {
        values.put(parameters.get(i).key(), components[i].getAccessor().invoke(optimizer));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot read " + optimizer, e);
      }
    }
    return values;
  }

  /**
   * Checks that hyperparameters are within their ranges.
   *
   * @throws InvalidInput naming the first that is not
   */
  void check(Optimizer optimizer) {
    Map<String, Object> values = values(optimizer);
    parameters.forEach(p -> check(p, values.get(p.key())));
  }

  private void check(Parameter p, Object value) {
    if (!p.isFlag()) {
      SpecCheck.of("optimizer", name).within(p.range(), p.key(), (Float) value);
    }
  }
}
