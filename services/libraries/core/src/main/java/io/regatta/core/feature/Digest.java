package io.regatta.core.feature;

import io.regatta.core.hash.Mix64;
import java.lang.reflect.RecordComponent;
import java.util.List;

/** A digest of declarations and statistics, the same on every machine. One owner. */
final class Digest {

  private long sum = Mix64.GOLDEN;

  Digest add(long value) {
    sum = Mix64.mix(sum + Mix64.GOLDEN ^ value);
    return this;
  }

  Digest add(double value) {
    return add(Double.doubleToLongBits(value));
  }

  Digest add(CharSequence text) {
    return add(Mix64.text(text));
  }

  /** Adds the class, the names and the values of a declaration. */
  Digest addRecord(Record declared) {
    add(declared.getClass().getSimpleName());
    for (RecordComponent part : declared.getClass().getRecordComponents()) {
      try {
        addValue(add(part.getName()), part.getAccessor().invoke(declared));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(part.getName() + " of " + declared, e);
      }
    }
    return this;
  }

  private static void addValue(Digest to, Object value) {
    if (value instanceof Double number) {
      to.add(number.doubleValue());
    } else if (value instanceof Record nested) {
      to.addRecord(nested);
    } else if (value instanceof List<?> list) {
      to.add(list.size());
      list.forEach(each -> addValue(to, each));
    } else {
      to.add(String.valueOf(value));
    }
  }

  long value() {
    return sum;
  }
}
