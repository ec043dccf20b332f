package io.regatta.protocol.shard;

/** The bytes that incomplete requests may take together. Owned by one stream's loop. */
final class ByteBudget {
  private final long limit;
  private long taken;

  ByteBudget(long limit) {
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /** Takes this number of bytes, or none and returns false. */
  boolean take(long bytes) {
    if (bytes > limit - taken) {
      return false;
    }
    taken += bytes;
    return true;
  }

  void giveBack(long bytes) {
    taken -= bytes;
  }
}
