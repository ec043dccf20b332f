package io.regatta.protocol.http2;

import io.netty.buffer.PooledByteBufAllocator;

/**
 * The process's pool of direct memory for tensors on their way, of both ends. It is not Netty's own, for two reasons:
 * Netty gives an arena's memory back to the system when nothing of it is in use, and asks for it anew, to be zeroed, for
 * the next chunk (of a tensor; an arena here is large enough that a few do not count as use); and its buffers begin 16
 * bytes behind the beginning of a page, which makes processors with fast short {@code rep movsb} copy what arrives over
 * loopback four times slower (decision 0013). Thread-safe.
 */
public final class DirectMemory {
  private static final int PAGE_BYTES = 8192;
  /** Arenas grow by 16 MB. */
  private static final int MAX_ORDER = 11;
  private static final int ALIGNMENT = 4096;

  /** The pool. */
  public static final PooledByteBufAllocator POOL = new PooledByteBufAllocator(true,
      PooledByteBufAllocator.defaultNumHeapArena(), PooledByteBufAllocator.defaultNumDirectArena(), PAGE_BYTES, MAX_ORDER,
      PooledByteBufAllocator.defaultSmallCacheSize(), PooledByteBufAllocator.defaultNormalCacheSize(),
      PooledByteBufAllocator.defaultUseCacheForAllThreads(),
      PooledByteBufAllocator.isDirectMemoryCacheAlignmentSupported() ? ALIGNMENT : 0);

  private DirectMemory() {}
}
