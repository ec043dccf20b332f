package io.regatta.protocol.stream.request;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.Outgoing;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * The sender of several messages' frames over one stream, message after message, as fast as its back-pressure allows: a
 * frame is made only when there is room for it. The number of waiting messages is limited by its users' requests in
 * progress. Owned by the stream's loop.
 */
public final class FrameSender {
  private final TensorStream stream;
  private final Consumer<RegattaException> failed;
  private final ArrayDeque<Message> queue = new ArrayDeque<>();
  private boolean pumping;
  private boolean stopped;
  /** Frames with borrowed memory that the stream still uses; completed when there are none. */
  private int lent;
  private Promise<Void> handedOver;

  private record Message(Iterator<Outgoing> frames, Runnable handedOver) {}

  /** @param failed notified when a frame cannot be made or written; the stream is not usable then */
  public FrameSender(TensorStream stream, Consumer<RegattaException> failed) {
    this.stream = stream;
    this.failed = failed;
    stream.drainHandler(v -> pump());
  }

  /**
   * Queues a message.
   *
   * @param handedOver called when the stream has taken its last frame; not called if the stream breaks before
   */
  public void send(Iterator<Outgoing> frames, Runnable handedOver) {
    if (stopped) {
      drop(frames);
    } else {
      queue.add(new Message(frames, handedOver));
      pump();
    }
  }

  /** Returns true if messages wait for room. */
  public boolean isBackedUp() {
    return !queue.isEmpty();
  }

  private static void drop(Iterator<Outgoing> frames) {
    if (frames instanceof DroppableFrames droppable) {
      droppable.drop();
    }
  }

  /** Drops everything that has not been sent. */
  public void stop() {
    stopped = true;
    queue.forEach(message -> drop(message.frames));
    queue.clear();
  }

  /** Completes when the stream has released all borrowed memory. */
  public Future<Void> handedOver() {
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
