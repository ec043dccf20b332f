package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.ArrayDeque;

/**
 * A tensor stream over a Vert.x HTTP/2 request and response; what both ends share. Owned by its context. Frames that
 * arrive before a handler is set, or while paused, wait here; the network below is paused meanwhile, so they are those
 * of one read at most.
 */
abstract class HttpTensorStream implements TensorStream {
  private final Context context;
  private final String peer;
  private final TensorFrameDecoder decoder;
  private final ArrayDeque<TensorFrame> received = new ArrayDeque<>();
  private ReadStream<Buffer> source;
  private Handler<TensorFrame> handler;
  private Handler<Void> endHandler;
  private Handler<RegattaException> exceptionHandler;
  private boolean paused;
  private boolean delivering;
  private boolean sourceEnded;
  /** Ended or broken: it must not be paused or resumed any more. */
  private boolean sourceGone;
  private boolean transportBroken;
  private RegattaException failure;
  private boolean finished;

  HttpTensorStream(Context context, String peer, StreamOptions options) {
    this.context = context;
    this.peer = peer;
    decoder = new TensorFrameDecoder(options.maxMessageBytes(), received::add);
  }

  /** Starts to read; the source has delivered nothing yet. */
  final void read(ReadStream<Buffer> from) {
    source = from;
    from.exceptionHandler(e -> {
      sourceGone = true;
      lost(e);
    });
    from.endHandler(v -> sourceEnd());
    from.handler(this::bytes);
    flow();
  }

  /** The write side. */
  abstract WriteStream<Buffer> sink();

  /** How the peer ended: null for cleanly. Called when all its bytes have been read. */
  abstract RegattaException endStatus();

  /** Something to do when the stream is over, in whichever way. */
  void over() {}

  private void bytes(Buffer buffer) {
    if (failure != null || finished) {
      return; // What still comes after an error is read and dropped, so that flow control does not get stuck.
    }
    try {
      decoder.feed(buffer);
    } catch (InvalidInput e) {
      broken(new InvalidInput(peer + ": " + e.getMessage()));
      return;
    }
    deliver();
  }

  private void sourceEnd() {
    sourceGone = true;
    sourceEnded = true;
    deliver();
  }

  /** The peer broke the protocol: it is told, and so is our own side, after the frames that were whole. */
  private void broken(RegattaException e) {
    failure = e;
    fail(e);
    deliver();
  }

  final void lost(Throwable cause) {
    transportBroken |= !(cause instanceof RegattaException);
    if (failure == null && !finished) {
      failure = cause instanceof RegattaException r ? r
          : new PeerLost("the tensor stream with " + peer + " broke: " + cause, cause);
      deliver();
    }
  }

  private void deliver() {
    if (delivering || finished || handler == null) {
      flow();
      return;
    }
    delivering = true;
    try {
      while (!paused && !finished && !received.isEmpty()) {
        handler.handle(received.poll());
      }
    } finally {
      delivering = false;
    }
    if (!finished && received.isEmpty() && (failure != null || sourceEnded)) {
      finish();
    }
    flow();
  }

  private void finish() {
    finished = true;
    RegattaException error = failure;
    if (error == null) {
      // A status explains more than a message that was cut short because of it.
      error = endStatus();
    }
    if (error == null && !decoder.atBoundary()) {
      error = new InvalidInput(peer + ": the stream ended in the middle of a message, after " + decoder.progress()
          + "; it was not delivered");
      fail(error);
    }
    over();
    if (error != null) {
      if (exceptionHandler != null) {
        exceptionHandler.handle(error);
      }
    } else if (endHandler != null) {
      endHandler.handle(null);
    }
  }

  private void flow() {
    if (source == null || sourceGone) {
      return;
    }
    if (!finished && failure == null && (handler == null || paused)) {
      source.pause();
    } else {
      source.resume();
    }
  }

  /** Whether there is nobody left to send a reset to. */
  final boolean isTransportBroken() {
    return transportBroken;
  }

  final boolean isFinished() {
    return finished;
  }

  final Future<Void> gone() {
    return Future.failedFuture(failure != null ? failure
        : new PeerLost("the tensor stream with " + peer + " has ended; open a new one"));
  }

  @Override
  public final Context context() {
    return context;
  }

  @Override
  public final String peer() {
    return peer;
  }

  @Override
  public Future<Void> send(TensorFrame frame) {
    if (failure != null || finished) {
      return gone();
    }
    return sink().write(TensorFrameEncoder.encode(frame));
  }

  @Override
  public boolean writeQueueFull() {
    return failure == null && !finished && sink().writeQueueFull();
  }

  @Override
  public TensorStream drainHandler(Handler<Void> drain) {
    sink().drainHandler(drain);
    return this;
  }

  @Override
  public TensorStream handler(Handler<TensorFrame> frames) {
    handler = frames;
    deliver();
    return this;
  }

  @Override
  public TensorStream pause() {
    paused = true;
    flow();
    return this;
  }

  @Override
  public TensorStream resume() {
    paused = false;
    deliver();
    return this;
  }

  @Override
  public TensorStream endHandler(Handler<Void> end) {
    endHandler = end;
    return this;
  }

  @Override
  public TensorStream exceptionHandler(Handler<RegattaException> error) {
    exceptionHandler = error;
    return this;
  }
}
