package io.regatta.core.optim;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The description of one optimizer, read once from the record that defines it: name, hyperparameters in order, and how
 * the record is made from their values. Immutable, any thread. Job files, the wire, digests, comparisons and the
 * reference pages follow from it.
 */
public final class Definition {

  /**
   * A hyperparameter of an optimizer.
   *
   * @param name in snake_case: the key of a job file and the name on the wire
   * @param isSwitch true if its values are true and false, which are 1 and 0 as numbers
   * @param value default
   * @param range values that are possible
   * @param doc meaning
   * @param isCommon true if all optimizers have it
   */
  public record Key(String name, boolean isSwitch, double value, Range range, String doc, boolean isCommon) {

    /** Returns a value as text: a boolean for a switch, the shortest float otherwise. */
    public String text(double number) {
      return isSwitch ? String.valueOf(number != 0) : String.valueOf((float) number).replaceFirst("\\.0$", "");
    }
  }

  private final String name;
  private final Class<? extends Optimizer> type;
  private final List<Key> keys = new ArrayList<>();
  /** Accessors of the keys; those of {@link Regularization} are called on the optimizer's. */
  private final List<Method> accessors = new ArrayList<>();
  private final Constructor<?> constructor;

  Definition(Class<? extends Optimizer> type) {
    this.type = type;
    name = snake(type.getSimpleName());
    RecordComponent[] components = type.getRecordComponents();
    if (components.length == 0 || components[0].getType() != Regularization.class) {
      throw new IllegalArgumentException(type + " must have a Regularization as its first component");
    }
    Arrays.stream(Regularization.class.getRecordComponents()).forEach(c -> add(c, true));
    Arrays.stream(components).skip(1).forEach(c -> add(c, false));
    constructor = constructor(type);
  }

  private void add(RecordComponent c, boolean isCommon) {
    Hyperparameter h = c.getAnnotation(Hyperparameter.class);
    boolean isSwitch = c.getType() == boolean.class;
    if (h == null || !isSwitch && c.getType() != float.class) {
      throw new IllegalArgumentException(c.getDeclaringRecord() + "." + c.getName()
          + " must be a float or a boolean with @Hyperparameter");
    }
    double value = isSwitch ? h.value().equals("true") ? 1 : 0 : Float.parseFloat(h.value());
    keys.add(new Key(snake(c.getName()), isSwitch, value, h.range(), h.doc(), isCommon));
    c.getAccessor().setAccessible(true);
    accessors.add(c.getAccessor());
  }

  private static Constructor<?> constructor(Class<?> type) {
    try {
      Constructor<?> found = type.getDeclaredConstructor(
          Arrays.stream(type.getRecordComponents()).map(RecordComponent::getType).toArray(Class<?>[]::new));
      found.setAccessible(true);
      return found;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("every record has its canonical constructor: " + type, e);
    }
  }

  private static String snake(String camel) {
    return camel.replaceAll("(?<=.)([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT);
  }

  /** Returns the name in job files, on the wire and in snapshots, such as {@code adam}. */
  public String name() {
    return name;
  }

  /** Returns the hyperparameters, those that all optimizers have first. */
  public List<Key> keys() {
    return List.copyOf(keys);
  }

  boolean defines(Optimizer optimizer) {
    return type.isInstance(optimizer);
  }

  /** Returns the optimizer with its defaults. */
  public Optimizer defaults() {
    return of(Map.of());
  }

  /**
   * Returns the optimizer with these values, and defaults for the others. Values of other names are ignored.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if a value is out of its range
   */
  public Optimizer of(Map<String, Double> values) {
    Object[] all = new Object[keys.size()];
    for (int i = 0; i < all.length; i++) {
      Key key = keys.get(i);
      double value = values.getOrDefault(key.name(), key.value());
      check(key, value);
      all[i] = key.isSwitch() ? (Object) (value != 0) : (Object) (float) value;
    }
    int common = Regularization.class.getRecordComponents().length;
    Object[] arguments = new Object[1 + all.length - common];
    arguments[0] = new Regularization((float) all[0], (float) all[1]);
    System.arraycopy(all, common, arguments, 1, all.length - common);
    try {
      return (Optimizer) constructor.newInstance(arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException refusal) {
        throw refusal;
      }
      throw new IllegalStateException("the optimizer " + name + " cannot be made", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the optimizer " + name + " cannot be made", e);
    }
  }

  /** Returns the values of an optimizer of this definition by name, in the order of {@link #keys}. */
  public Map<String, Double> values(Optimizer optimizer) {
    Map<String, Double> values = new LinkedHashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      values.put(keys.get(i).name(), value(optimizer, i));
    }
    return values;
  }

  private double value(Optimizer optimizer, int i) {
    Method accessor = accessors.get(i);
    try {
      Object value = accessor.invoke(keys.get(i).isCommon() ? optimizer.regularization() : optimizer);
      return value instanceof Boolean on ? on ? 1 : 0 : (float) value;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the record's accessor " + accessor + " cannot be called", e);
    }
  }

  /** Requires that all values of an optimizer are in their ranges. */
  void check(Optimizer optimizer) {
    for (int i = 0; i < keys.size(); i++) {
      check(keys.get(i), value(optimizer, i));
    }
  }

  private void check(Key key, double value) {
    new SpecCheck("optimizer " + name).require(key.range().holds((float) value), key.name(), key.text(value),
        key.range().words());
  }
}
