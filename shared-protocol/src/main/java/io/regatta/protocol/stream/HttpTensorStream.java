package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.ErrorMapping;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.common.GrpcStatus;
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
  /** The peer has ended its side: all its bytes have been read. */
  private boolean sourceEnded;
  /** Ended or broken: it must not be paused or resumed any more. */
  private boolean sourceGone;
  /** Why nothing more will be read; delivered behind the frames that came before. */
  private RegattaException failure;
  /** The end or the failure has been delivered, or this side has given up: nothing more is read. */
  private boolean finished;
  /** The peer's clean end has been delivered, and this side may still write. */
  private boolean halfClosed;

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
      broken(e);
    });
    from.endHandler(v -> {
      sourceGone = true;
      sourceEnded = true;
      deliver();
    });
    from.handler(this::bytes);
    flow();
  }

  /** The write side. */
  abstract WriteStream<Buffer> sink();

  /** Whether this side has been ended, so that nothing can be written. */
  abstract boolean sinkEnded();

  /** Ends this side with a status; a client resets. Nothing happens if it has ended before. */
  abstract Future<Void> close(GrpcStatus status, String message);

  /** How the peer ended: null for cleanly. Called when all its bytes have been read. */
  abstract RegattaException endStatus();

  /** The transport failed; there is nobody left to write to. Ends in {@link #lost}. */
  abstract void broken(Throwable cause);

  /** The peer's side is over, in whatever way; called once, before the user's handler, unless this side gave up. */
  void over() {}

  private void bytes(Buffer buffer) {
    if (failure != null || finished) {
      return; // Read and dropped, so that the peer's last bytes do not hold the connection's window.
    }
    try {
      decoder.feed(buffer);
    } catch (WireException e) {
      String message = "from " + peer + " came " + e.getMessage();
      failure = new InvalidInput(message);
      close(e.status, message);
    } catch (RuntimeException | Error e) { // no memory: what was being read has a hole now, and nothing after it fits
      received.clear();
      failure = new Overloaded("a message from " + peer + " could not be taken in here: " + e
          + "; give this process a larger heap");
      close(ErrorMapping.status(failure), failure.getMessage());
    }
    deliver();
  }

  /** Nothing more will come, for this reason. */
  final void lost(Throwable cause) {
    if (failure != null || finished && !halfClosed) {
      return;
    }
    failure = cause instanceof RegattaException r ? r : broke(cause);
    if (halfClosed) {
      tellFailure();
    } else {
      deliver();
    }
  }

  private void deliver() {
    if (!delivering && !finished && handler != null) {
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
    }
    flow();
  }

  private void finish() {
    finished = true;
    if (failure == null) {
      failure = endStatus(); // A status explains more than a message that was cut short because of it.
    }
    if (failure == null && !decoder.atBoundary()) {
      failure = new InvalidInput("the stream from " + peer + " ended in the middle of a message, after "
          + decoder.progress() + "; that message was not delivered");
      close(ErrorMapping.status(failure), failure.getMessage());
    }
    over();
    if (failure != null) {
      tellFailure();
      return;
    }
    halfClosed = !sinkEnded();
    if (endHandler != null) {
      endHandler.handle(null);
    }
  }

  private void tellFailure() {
    halfClosed = false;
    if (exceptionHandler != null) {
      exceptionHandler.handle(failure);
    }
  }

  /** This side wants no more from the peer; {@link #close} follows. */
  final void giveUp() {
    halfClosed = false;
    if (!finished) {
      finished = true;
      received.clear();
      flow();
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

  @Override
  public final Context context() {
    return context;
  }

  private PeerLost broke(Throwable cause) {
    return new PeerLost("the tensor stream with " + peer + " broke: " + cause.getMessage(), cause);
  }

  @Override
  public final String peer() {
    return peer;
  }

  @Override
  public Future<Void> send(TensorFrame frame) {
    if (failure != null) {
      return Future.failedFuture(failure);
    }
    if (sinkEnded()) {
      return Future.failedFuture(new PeerLost("the tensor stream with " + peer + " has ended; open a new one"));
    }
    return sink().write(TensorFrameEncoder.encode(frame)).recover(e -> Future.failedFuture(
        failure != null ? failure : e instanceof RegattaException ? e : broke(e)));
  }

  @Override
  public boolean writeQueueFull() {
    return failure == null && !sinkEnded() && sink().writeQueueFull();
  }

  @Override
  public TensorStream drainHandler(Handler<Void> drain) {
    if (!sinkEnded()) {
      sink().drainHandler(drain);
    }
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

  @Override
  public Future<Void> fail(RegattaException error) {
    giveUp();
    return close(ErrorMapping.status(error), error.getMessage());
  }
}
