package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.stream.TensorStream;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * Sends the frames of several messages over one stream, in order, as fast as its back-pressure allows: a frame is made
 * only when there is room for it. Bounded by the number of requests that its users allow. Owned by the stream's loop.
 */
final class FrameSender {
  private final TensorStream stream;
  private final Consumer<RegattaException> failed;
  private final ArrayDeque<Iterator<TensorFrame>> queue = new ArrayDeque<>();
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

  /** @param failed told when a write fails; the stream is of no use then */
  FrameSender(TensorStream stream, Consumer<RegattaException> failed) {
    this.stream = stream;
    this.failed = failed;
    stream.drainHandler(v -> pump());
  }

  void send(TensorFrame frame) {
    send(java.util.List.of(frame).iterator());
  }

  void send(Iterator<TensorFrame> frames) {
    queue.add(frames);
    pump();
  }

  /** Messages not wholly handed to the stream yet. */
  int queued() {
    return queue.size();
  }

  /** Calls back once, when the queue is empty: everything has been handed to the stream. */
  void whenEmpty(Runnable callback) {
    waiting.add(callback);
    pump();
  }

  private void pump() {
    while (!queue.isEmpty() && !stream.writeQueueFull()) {
      Iterator<TensorFrame> frames = queue.peek();
      if (frames.hasNext()) {
        stream.send(frames.next()).onFailure(e -> failed.accept(ErrorMapping.regatta(e)));
      } else {
        queue.poll();
      }
    }
    while (queue.isEmpty() && !waiting.isEmpty()) {
      waiting.poll().run();
    }
  }
}
