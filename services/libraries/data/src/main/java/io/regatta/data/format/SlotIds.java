package io.regatta.data.format;

import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.file.Ascii;

/** The ids of PaddlePaddle's text formats: decimal, unsigned 64 bits, 0 for no id. Stateless. */
final class SlotIds {

  static final String EXPECTED = "an id from 0 to 18446744073709551614";

  private SlotIds() {}

  /** Returns true if a token is an id; the largest 64-bit number is reserved for {@link DistinctIds#PADDING}. */
  static boolean valid(byte[] bytes, int from, int to) {
    return Ascii.isId(bytes, from, to) && Ascii.id(bytes, from, to) != DistinctIds.PADDING;
  }

  /** Stores an id at a position; returns the number of positions it takes: none if it is 0. */
  static int put(long id, long[] ids, int at) {
    if (id == 0) {
      return 0;
    }
    ids[at] = id;
    return 1;
  }
}
