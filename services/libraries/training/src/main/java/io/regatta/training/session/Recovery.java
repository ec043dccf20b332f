package io.regatta.training.session;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The wire form of the state that ranks exchange when a generation begins. Each sends a row of facts about itself. Then
 * one of the furthest sends all its state, if any rank lacks some. Immutable.
 *
 * @param fresh true if it has not been a rank before
 * @param life number of this incarnation of a rank; no other has it
 * @param operations that it has completed
 * @param beginnings of generations in which it took part
 * @param holds true if it holds a batch that it trains in the operation to be repeated
 * @param longs length of its state in whole numbers
 * @param floats length of its state in floats
 */
record Recovery(boolean fresh, long life, long operations, long beginnings, boolean holds, int longs, int floats) {

  static final int FACTS = 7;

  void put(long[] all, int rank) {
    long[] row = {fresh ? 1 : 0, life, operations, beginnings, holds ? 1 : 0, longs, floats};
    System.arraycopy(row, 0, all, rank * FACTS, FACTS);
  }

  static List<Recovery> rows(long[] all) {
    List<Recovery> rows = new ArrayList<>();
    for (int at = 0; at < all.length; at += FACTS) {
      rows.add(new Recovery(all[at] == 1, all[at + 1], all[at + 2], all[at + 3], all[at + 4] == 1, (int) all[at + 5],
          (int) all[at + 6]));
    }
    return rows;
  }

  /** Returns the lowest of the furthest ranks; -1 if all are fresh. */
  static int furthest(List<Recovery> rows) {
    int best = -1;
    for (int rank = 0; rank < rows.size(); rank++) {
      if (!rows.get(rank).fresh && (best < 0 || rows.get(best).isBehind(rows.get(rank)))) {
        best = rank;
      }
    }
    return best;
  }

  boolean isBehind(Recovery other) {
    return fresh || operations < other.operations || operations == other.operations && beginnings < other.beginnings;
  }

  /** Returns direct memory for the given floats, in the wire's order. */
  static ByteBuffer memory(int floats) {
    return ByteBuffer.allocateDirect(Math.multiplyExact(floats, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
  }

  static FloatBuffer floats(ByteBuffer memory) {
    return memory.duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
  }

  /** Packs arrays into one, each after its length. */
  static long[] packed(long[]... parts) {
    int length = 0;
    for (long[] part : parts) {
      length += 1 + part.length;
    }
    long[] all = new long[length];
    int at = 0;
    for (long[] part : parts) {
      all[at++] = part.length;
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  static List<long[]> unpacked(long[] all) {
    List<long[]> parts = new ArrayList<>();
    for (int at = 0; at < all.length; ) {
      long[] part = new long[(int) all[at++]];
      System.arraycopy(all, at, part, 0, part.length);
      parts.add(part);
      at += part.length;
    }
    return parts;
  }
}
