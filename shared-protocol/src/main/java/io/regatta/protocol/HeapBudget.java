package io.regatta.protocol;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of the heap that requests of all streams of this process may take together, incomplete ones included. Announced sizes
 * are taken before anything is allocated, so a request that does not fit is refused while there is memory to say so.
 * Thread-safe.
 */
final class HeapBudget {

  private static final int SHARE = 2;

  /** Half of the heap: the other half is for parameters, answers, and everything else. */
  static final HeapBudget PROCESS = new HeapBudget(Runtime.getRuntime().maxMemory() / SHARE);

  private final long limit;
  private final AtomicLong taken = new AtomicLong();

  HeapBudget(long limit) {
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /** Returns the bytes that are taken. */
  long taken() {
    return taken.get();
  }

  /** Takes so many bytes, or none and returns false. */
  boolean take(long bytes) {
    for (long now = taken.get(); bytes <= limit - now; now = taken.get()) {
      if (taken.compareAndSet(now, now + bytes)) {
        return true;
      }
    }
    return false;
  }

  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }
}
