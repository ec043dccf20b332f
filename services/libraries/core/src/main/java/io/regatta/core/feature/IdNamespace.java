package io.regatta.core.feature;

import io.regatta.core.hash.XxHash64;
import io.regatta.core.reduce.DistinctIds;
import java.nio.charset.StandardCharsets;

/** The ids of one feature in its namespace. Immutable; any thread. */
final class IdNamespace {

  private static final long MISSING_SEED = 1;
  private static final long RARE_SEED = 2;

  private final IdCoding coding;
  private final Vocabulary vocabulary;
  private final long seed;
  private final long missing;
  private final long rare;

  /** @param vocabulary null: each value has an id of its own */
  IdNamespace(IdCoding coding, Vocabulary vocabulary) {
    this.coding = coding;
    byte[] name = utf8(coding.namespace());
    this.seed = XxHash64.of(name, 0, name.length, 0);
    this.missing = usable(XxHash64.of(name, 0, name.length, MISSING_SEED));
    this.rare = usable(XxHash64.of(name, 0, name.length, RARE_SEED));
    this.vocabulary = coding.vocabulary().isEmpty() ? vocabulary
        : new Vocabulary(coding.vocabulary().stream().map(IdNamespace::utf8).mapToLong(text -> id(text, 0, text.length))
            .sorted().distinct().toArray());
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The padding is no id. */
  static long usable(long hash) {
    return hash == DistinctIds.PADDING ? 0 : hash;
  }

  long seed() {
    return seed;
  }

  long missing() {
    return missing;
  }

  /** Returns the id of a value, as if the vocabulary held it. */
  long id(byte[] text, int from, int to) {
    long hash = XxHash64.of(text, from, to, seed);
    if (coding.hashBuckets() == 0) {
      return usable(hash);
    }
    return number(Long.remainderUnsigned(hash, coding.hashBuckets()));
  }

  /** Returns the id of a whole number's decimal text. */
  long number(long value) {
    byte[] digits = utf8(Long.toString(value));
    return usable(XxHash64.of(digits, 0, digits.length, seed));
  }

  /** Returns the id, or the rare one if the vocabulary lacks it. */
  long known(long id) {
    return vocabulary == null || vocabulary.has(id) ? id : rare;
  }

  /** Returns true if statistics decide which ids are rare. */
  boolean isCounted() {
    return coding.minCount() > 1;
  }

  String name() {
    return coding.namespace();
  }

  boolean isWhole() {
    return coding.whole();
  }
}
