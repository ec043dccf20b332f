package io.regatta.collective;

import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;

/**
 * The number of messages that a rank's streams hold, which use callers' memory, and the callers that wait for it. Owned
 * by the rank's loop.
 */
final class OutstandingSends {
  private final Loop loop;
  private final Runnable sever;
  private final List<Promise<Void>> waiting = new ArrayList<>();
  private int messages;

  /** @param sever cuts off the streams that hold messages, which then release them within a moment */
  OutstandingSends(Loop loop, Runnable sever) {
    this.loop = loop;
    this.sever = sever;
  }

  /** Adds to the number of messages that streams hold; a negative number when they have released them. */
  void add(int more) {
    messages += more;
    if (messages == 0 && !waiting.isEmpty()) {
      List<Promise<Void>> told = List.copyOf(waiting);
      waiting.clear();
      told.forEach(Promise::complete);
    }
  }

  /** Completes when no stream uses a caller's memory any more; streams that still do after the limit are cut off. */
  Future<Void> returned(long limitMillis) {
    if (messages == 0) {
      return Future.succeededFuture();
    }
    Promise<Void> returned = Promise.promise();
    Timer timer = loop.after(limitMillis, sever);
    waiting.add(returned);
    return returned.future().onComplete(done -> timer.cancel());
  }
}
