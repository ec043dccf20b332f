package io.regatta.protocol;

import io.vertx.core.Context;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.TimeUnit;

/**
 * The next part of work that an event loop does in many turns, so that others are served meanwhile. A task of
 * {@link Context#runOnContext} is not behind what comes on the loop's sockets: of tasks that follow one another Netty runs as
 * many as there are within a second before it looks at them. Stateless.
 */
public final class LaterTurn {

  private LaterTurn() {}

  /** Runs a task on a context, behind what has come on its loop's sockets until then. Any thread. */
  public static void run(Context context, Runnable task) {
    ((ContextInternal) context).nettyEventLoop().schedule(() -> context.runOnContext(v -> task.run()), 0, TimeUnit.NANOSECONDS);
  }
}
