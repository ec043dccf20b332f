package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.TensorStream;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * Sends the frames of several messages over one stream, message after message, as fast as its back-pressure allows: a
 * frame is made only when there is room for it. As many messages can wait as its users have in progress, and those are
 * limited. Owned by the stream's loop.
 */
final class FrameSender {
  private final TensorStream stream;
  private final Consumer<RegattaException> failed;
  private final ArrayDeque<Message> queue = new ArrayDeque<>();
  private boolean pumping;
  private boolean stopped;
  /** Frames with memory that is not ours, which the stream has not done with; completed when there are none. */
  private int lent;
  private Promise<Void> handedOver;

  private record Message(Iterator<Outgoing> frames, Runnable handedOver) {}

  /** @param failed told when a frame cannot be made or written; the stream is of no use then */
  FrameSender(TensorStream stream, Consumer<RegattaException> failed) {
    this.stream = stream;
    this.failed = failed;
    stream.drainHandler(v -> pump());
  }

  /**
   * Queues a message.
   *
   * @param handedOver called when the stream has taken its last frame; not called if the stream breaks before
   */
  void send(Iterator<Outgoing> frames, Runnable handedOver) {
    if (stopped) {
      drop(frames);
    } else {
      queue.add(new Message(frames, handedOver));
      pump();
    }
  }

  /** Whether messages wait for room. */
  boolean isBackedUp() {
    return !queue.isEmpty();
  }

  private static void drop(Iterator<Outgoing> frames) {
    if (frames instanceof Chunks chunks) {
      chunks.drop();
    }
  }

  /** Forgets what has not been sent. */
  void stop() {
    stopped = true;
    queue.forEach(message -> drop(message.frames));
    queue.clear();
  }

  /** Completes when the stream has done with all memory that it was given and that is not ours. */
  Future<Void> handedOver() {
    if (lent == 0) {
      return Future.succeededFuture();
    }
    handedOver = handedOver == null ? Promise.promise() : handedOver;
    return handedOver.future();
  }

  private void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    try {
      while (!queue.isEmpty()) {
        Message message = queue.peek();
        while (message.frames.hasNext()) {
          if (stream.writeQueueFull()) {
            return;
          }
          write(message.frames.next());
          if (stopped) {
            return;
          }
        }
        queue.poll();
        message.handedOver.run();
      }
    } catch (RuntimeException | Error e) { // no memory for a frame
      stop();
      failed.accept(ErrorMapping.regatta(e));
    } finally {
      pumping = false;
    }
  }

  private void write(Outgoing out) {
    Future<Void> written;
    try {
      written = stream.send(out.frame());
    } catch (RuntimeException | Error e) {
      out.release();
      throw e;
    }
    boolean foreign = out.memory() == null && out.frame().payload().hasRemaining();
    lent += foreign ? 1 : 0;
    written.onComplete(sent -> {
      out.release();
      if (foreign && --lent == 0 && handedOver != null) {
        Promise<Void> told = handedOver;
        handedOver = null;
        told.complete();
      }
      if (sent.failed() && !stopped) {
        stop();
        failed.accept(ErrorMapping.regatta(sent.cause()));
      }
    });
  }
}
