package io.regatta.protocol.network;

import io.vertx.core.Future;

/** A sequence of answers that continues until the peer, or this side, ends it. May be used on any thread. */
public final class Watch {
  private final Future<Void> ended;
  private final Runnable cancel;

  /**
   * A watch under way.
   *
   * @param ended see {@link #ended()}
   * @param cancel see {@link #cancel()}; any thread
   */
  public Watch(Future<Void> ended, Runnable cancel) {
    this.ended = ended;
    this.cancel = cancel;
  }

  /** Completes when the peer has ended the watch or it was cancelled; fails when the peer failed or is lost. */
  public Future<Void> ended() {
    return ended;
  }

  /** Ends the watch; answers that are already on their way may still come. */
  public void cancel() {
    cancel.run();
  }
}
