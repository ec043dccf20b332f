package io.regatta.data.format;

import java.nio.charset.StandardCharsets;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/**
 * The hash that makes ids of categorical values: {@code xxh64(name=value, seed 0)} (Collet, <a
 * href="https://github.com/Cyan4973/xxHash">xxHash</a>) of the UTF-8 text. It is stable across processes and platforms,
 * and needs no vocabulary. Stateless; any thread may use it.
 */
public final class NamedValue {

  private static final XXHash64 HASH = XXHashFactory.safeInstance().hash64();

  private NamedValue() {}

  /** Returns the id of a value of the column or slot of this name. */
  public static long id(String name, String value) {
    byte[] key = (name + "=" + value).getBytes(StandardCharsets.UTF_8);
    return HASH.hash(key, 0, key.length, 0);
  }
}
