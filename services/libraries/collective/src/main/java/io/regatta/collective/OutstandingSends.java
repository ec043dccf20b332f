package io.regatta.collective;

import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;

/** How many messages are with a rank's streams, which use callers' memory, and who waits for it. Owned by the rank's loop. */
final class OutstandingSends {
  private final Loop loop;
  private final Runnable sever;
  private final List<Promise<Void>> waiting = new ArrayList<>();
  private int messages;

  /** @param sever cuts the streams off that have messages, which then are done with in a moment */
  OutstandingSends(Loop loop, Runnable sever) {
    this.loop = loop;
    this.sever = sever;
  }

  /** So many more messages are with a stream; less than 0: it has done with them. */
  void add(int more) {
    messages += more;
    if (messages == 0 && !waiting.isEmpty()) {
      List<Promise<Void>> told = List.copyOf(waiting);
      waiting.clear();
      told.forEach(Promise::complete);
    }
  }

  /** Completes when no stream uses a caller's memory any more; streams that still do after a while are cut off. */
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
