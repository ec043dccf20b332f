package io.regatta.protocol.stream.request;

/** The bytes that incomplete requests may take together. Owned by one stream's loop. */
public final class ByteBudget {
  private final long limit;
  private long taken;

  /** Creates a budget of which nothing is taken. */
  public ByteBudget(long limit) {
    this.limit = limit;
  }

  /** Returns the bytes that may be taken together. */
  public long limit() {
    return limit;
  }

  /** Takes this number of bytes, or none and returns false. */
  public boolean take(long bytes) {
    if (bytes > limit - taken) {
      return false;
    }
    taken += bytes;
    return true;
  }

  /** Returns bytes to the budget. */
  public void giveBack(long bytes) {
    taken -= bytes;
  }
}
