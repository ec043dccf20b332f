package io.regatta.core.dense;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A dense vector that is being received, or has been, in blocks of a pool. Owned by the pool's thread. Blocks are taken
 * as the elements arrive, so that memory follows what has arrived and not what was announced. Each block is searched
 * for NaN and infinity while it is in the cache.
 */
public final class DenseBlocks implements DenseSink, DenseValues {

  private final int size;
  private final BlockPool pool;
  private final List<float[]> blocks = new ArrayList<>();
  private final boolean finite;
  private int fill;
  private int nonFinite = -1;

  /** Creates a vector of {@code size} elements, none of which has arrived. */
  public DenseBlocks(int size, BlockPool pool) {
    this(size, pool, false);
  }

  /**
   * Creates a vector of {@code size} elements, none of which has arrived.
   *
   * @param finite whether the elements are known to be finite, so that none is checked
   */
  public DenseBlocks(int size, BlockPool pool, boolean finite) {
    this.size = size;
    this.pool = pool;
    this.finite = finite;
  }

  @Override
  public void put(ByteBuffer elements) {
    while (elements.remaining() >= Float.BYTES) {
      int b = fill / BLOCK;
      int length = length(b);
      if (b == blocks.size()) {
        blocks.add(length == BLOCK ? pool.take() : new float[length]);
      }
      int at = fill - b * BLOCK;
      int n = Math.min(length - at, elements.remaining() / Float.BYTES);
      LittleEndian.get(elements, blocks.get(b), at, n);
      fill += n;
      if (at + n == length && nonFinite < 0 && !finite) {
        int bad = NonFinite.find(blocks.get(b), length, pool.scratch());
        nonFinite = bad < 0 ? -1 : b * BLOCK + bad;
      }
    }
  }

  @Override
  public DenseValues values() {
    return this;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public float[] block(int b) {
    return blocks.get(b);
  }

  @Override
  public int nonFinite() {
    return nonFinite;
  }

  @Override
  public void release() {
    blocks.forEach(pool::give);
    blocks.clear();
  }
}
