package io.regatta.data.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;

/**
 * The xxHash with 32 bits and seed 0 (Collet, <a href="https://github.com/Cyan4973/xxHash">xxHash</a>) of a categorical
 * value in place, after its column's two digits. Stateless; any thread may use it.
 */
final class XxHash32 {

  private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final XXHash32 ANY_LENGTH = XXHashFactory.safeInstance().hash32();
  private static final int PRIME1 = 0x9E3779B1;
  private static final int PRIME2 = 0x85EBCA77;
  private static final int PRIME3 = 0xC2B2AE3D;
  private static final int PRIME4 = 0x27D4EB2F;
  private static final int PRIME5 = 0x165667B1;
  /** Length from which the algorithm reads stripes of 16 bytes. */
  private static final int LONG_KEY = 16;

  private XxHash32() {}

  /**
   * Returns the hash of {@code column} in decimal followed by {@code bytes[from .. from + length)}.
   *
   * @param column 10 to 99
   */
  static int ofNumbered(int column, byte[] bytes, int from, int length) {
    int digit1 = '0' + column / 10;
    int digit2 = '0' + column % 10;
    int all = length + 2;
    if (all >= LONG_KEY) {
      return ofLong(digit1, digit2, bytes, from, length);
    }
    int hash = PRIME5 + all;
    if (length < 2) {
      hash = single(single(hash, digit1), digit2);
      return avalanche(length == 0 ? hash : single(hash, bytes[from] & 0xFF));
    }
    hash = word(hash, digit1 | digit2 << 8 | (bytes[from] & 0xFF) << 16 | bytes[from + 1] << 24);
    int i = from + 2;
    int end = from + length;
    for (; i + Integer.BYTES <= end; i += Integer.BYTES) {
      hash = word(hash, (int) INTS.get(bytes, i));
    }
    for (; i < end; i++) {
      hash = single(hash, bytes[i] & 0xFF);
    }
    return avalanche(hash);
  }

  private static int ofLong(int digit1, int digit2, byte[] bytes, int from, int length) {
    byte[] key = new byte[length + 2];
    key[0] = (byte) digit1;
    key[1] = (byte) digit2;
    System.arraycopy(bytes, from, key, 2, length);
    return ANY_LENGTH.hash(key, 0, key.length, 0);
  }

  private static int word(int hash, int word) {
    return Integer.rotateLeft(hash + word * PRIME3, 17) * PRIME4;
  }

  private static int single(int hash, int value) {
    return Integer.rotateLeft(hash + value * PRIME5, 11) * PRIME1;
  }

  private static int avalanche(int hash) {
    int h = (hash ^ hash >>> 15) * PRIME2;
    h = (h ^ h >>> 13) * PRIME3;
    return h ^ h >>> 16;
  }
}
