package io.regatta.collective.store;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Checks of keys and values, and the format of counters. Stateless. */
final class Entries {

  private Entries() {}

  /** @throws InvalidInput if it is no key */
  static void checkKey(String key) {
    if (key.isEmpty() || key.length() > Store.KEY_CHARACTERS) {
      throw new InvalidInput("a key of a store has 1 to " + Store.KEY_CHARACTERS + " characters, this one has "
          + key.length() + (key.isEmpty() ? "" : " and begins with " + key.substring(0, 40)));
    }
  }

  /** @throws InvalidInput if it is no key, or the value is too large for a store */
  static void check(String key, byte[] value) {
    checkKey(key);
    if (value.length > Store.VALUE_BYTES) {
      throw new InvalidInput("value of key " + key + " has " + value.length + " bytes; a store holds small facts of at "
          + "most " + Store.VALUE_BYTES + " bytes, tensors go by streams");
    }
  }

  /** @throws InvalidInput if the value is no counter or the sum overflows */
  static long sum(String key, Optional<byte[]> counter, long delta) {
    String text = counter.map(value -> new String(value, StandardCharsets.UTF_8)).orElse("0");
    try {
      return Math.addExact(Long.parseLong(text), delta);
    } catch (NumberFormatException e) {
      throw new InvalidInput("key " + key + " holds no decimal number, so " + delta + " cannot be added to it; use "
          + "another key for the counter", e);
    } catch (ArithmeticException e) {
      throw new InvalidInput("counter " + key + " would overflow 64 bits by adding " + delta, e);
    }
  }

  /** Returns a counter as {@link #sum} reads it. */
  static byte[] counter(long value) {
    return Long.toString(value).getBytes(StandardCharsets.UTF_8);
  }
}
