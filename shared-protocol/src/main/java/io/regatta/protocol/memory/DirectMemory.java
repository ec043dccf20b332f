package io.regatta.protocol.memory;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/**
 * The process's memory for tensors on their way, of both ends. Buffers of a page and more come from a pool of its own,
 * for two reasons. First, Netty returns an arena's memory to the system when nothing of it is in use, and requests it
 * again, to be zeroed, for the next chunk of a tensor. An arena here is large enough that a few buffers do not count as
 * use. Second, its buffers begin 16 bytes after the beginning of a page, which makes some processors copy loopback data
 * several times slower (decision 0013). Smaller ones, heads of frames and the like, come from Netty's own pool:
 * alignment would make each of them a page. Thread-safe.
 */
public final class DirectMemory extends AbstractByteBufAllocator {
  private static final int PAGE_BYTES = 8192;
  /** Arenas grow by 16 MB. */
  private static final int MAX_ORDER = 11;
  private static final int ALIGNMENT = 4096;

  /** The only instance. */
  public static final DirectMemory ALLOCATOR = new DirectMemory();

  private final PooledByteBufAllocator large = new PooledByteBufAllocator(true, 0,
      PooledByteBufAllocator.defaultNumDirectArena(), PAGE_BYTES, MAX_ORDER,
      PooledByteBufAllocator.defaultSmallCacheSize(), PooledByteBufAllocator.defaultNormalCacheSize(),
      PooledByteBufAllocator.defaultUseCacheForAllThreads(),
      PooledByteBufAllocator.isDirectMemoryCacheAlignmentSupported() ? ALIGNMENT : 0);
  private final PooledByteBufAllocator small = PooledByteBufAllocator.DEFAULT;

  private DirectMemory() {
    super(true);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    return (initialCapacity < ALIGNMENT ? small : large).directBuffer(initialCapacity, maxCapacity);
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return small.heapBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return true;
  }

  /** Returns the bytes of both pools that are in use now, each buffer as much as it takes of its pool. */
  public long pinnedBytes() {
    return large.pinnedDirectMemory() + small.pinnedDirectMemory();
  }
}
