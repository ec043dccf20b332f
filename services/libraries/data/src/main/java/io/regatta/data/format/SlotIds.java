package io.regatta.data.format;

import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.file.Ascii;

/** Ids as PaddlePaddle's text formats have them: decimal, 64 bits without sign, 0 where there is none. Stateless. */
final class SlotIds {

  static final String EXPECTED = "an id from 0 to 18446744073709551614";

  private SlotIds() {}

  /** Whether a token is an id; the largest number of 64 bits is kept for {@link DistinctIds#PADDING}. */
  static boolean valid(byte[] bytes, int from, int to) {
    return Ascii.isId(bytes, from, to) && Ascii.id(bytes, from, to) != DistinctIds.PADDING;
  }

  /** Puts an id into its place; returns how many places are taken by it: none if it is 0. */
  static int put(long id, long[] ids, int at) {
    if (id == 0) {
      return 0;
    }
    ids[at] = id;
    return 1;
  }
}
