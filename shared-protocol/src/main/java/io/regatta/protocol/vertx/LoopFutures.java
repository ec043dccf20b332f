package io.regatta.protocol.vertx;

import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.TimeoutException;

/** Futures of Vert.x by the time of a loop. Stateless; called on that loop, on which they complete. */
public final class LoopFutures {

  private LoopFutures() {}

  /** Returns a future that completes after that many milliseconds; at least one is waited. */
  public static Future<Void> after(Loop loop, long millis) {
    Promise<Void> passed = Promise.promise();
    loop.after(millis, passed::complete);
    return passed.future();
  }

  /**
   * Returns a future that completes as another one, or fails with {@link TimeoutException}. The other one continues;
   * its result is not used any more then.
   *
   * @param loop on which both complete
   * @param millis limit, at least 1
   */
  public static <T> Future<T> within(Loop loop, long millis, Future<T> future) {
    if (future.isComplete()) {
      return future;
    }
    Promise<T> limited = Promise.promise();
    Timer timer = loop.after(millis, () -> limited.tryFail(new TimeoutException("no answer within " + millis + " ms")));
    future.onComplete(done -> {
      timer.cancel();
      if (done.succeeded()) {
        limited.tryComplete(done.result());
      } else {
        limited.tryFail(done.cause());
      }
    });
    return limited.future();
  }
}
