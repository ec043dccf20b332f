package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.WireException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.channels.ClosedChannelException;

/**
 * One end of a tensor stream on any transport: it decides when waiting input is read, and how the stream ends. The end
 * is reported once, after the frames that came before. Owned by its loop.
 */
abstract class AbstractTensorStream implements TensorStream {
  /** Bytes read in one task, up to the end of a frame; waiting input can be a whole window. */
  static final int TURN_BYTES = 2 << 20;

  private final Loop loop;
  private final String peer;
  private FrameReceiver receiver;
  private Handler<Void> endHandler;
  private Handler<RegattaException> exceptionHandler;
  private boolean paused;
  private boolean delivering;
  private boolean goesOn;
  /** True once the peer has ended its side: all its input has arrived. */
  private boolean peerEnded;
  /** True once input could not be read, so nothing after it can. */
  private boolean refused;
  /** The reason for which nothing more will be read; delivered after the frames that came before. */
  private RegattaException failure;
  /** True once the end or the failure has been delivered, or this side has given up: nothing more is read. */
  private boolean finished;
  /** True once the peer's clean end has been delivered, while this side may still write. */
  private boolean halfClosed;

  AbstractTensorStream(Loop loop, String peer) {
    this.loop = loop;
    this.peer = peer;
  }

  /** Returns true if input waits that may be read now. */
  abstract boolean inputWaits();

  /**
   * Reads input that waits, up to the end of a frame at most.
   *
   * @return how many bytes
   * @throws WireException if it is no frame of this stream
   */
  abstract int read(FrameReceiver to);

  /** Drops the input that waits. */
  abstract void drop();

  /** Notes that nothing more will be read; waiting input has been dropped. */
  void readNoMore() {}

  /** Holds the peer back, or lets it continue. */
  void flow(boolean hold) {}

  /** Returns true if this side has been ended, so that nothing can be written. */
  abstract boolean sinkEnded();

  /** Ends this side with a status; a client resets. Nothing happens if it has ended before. */
  abstract Future<Void> close(GrpcStatus status, String message);

  /** Returns the peer's end status: null for a clean end. Called when all its input has been read. */
  abstract RegattaException endStatus();

  /** Notes that the peer's side is over; called once, before the user's handler, unless this side gave up. */
  void over() {}

  /** Notes that new input waits. */
  final void arrived() {
    if (failure != null || finished) {
      drop();
    } else {
      deliver();
    }
  }

  /** Notes that all of the peer's input has arrived. */
  final void peerEnded() {
    peerEnded = true;
    deliver();
  }

  /** Returns true if all of the peer's input has arrived, and with it its end status. */
  final boolean peerHasEnded() {
    return peerEnded;
  }

  /** Returns the reason for which the stream is not usable, or null. */
  final RegattaException failure() {
    return failure;
  }

  /** Notes that nothing more will arrive, for this reason. */
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

  final PeerLost broke(Throwable cause) {
    String why = cause instanceof ClosedChannelException ? "its connection was closed"
        : cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return new PeerLost("the tensor stream with " + peer + " broke: " + why, cause);
  }

  private void deliver() {
    if (!delivering && !finished && receiver != null) {
      delivering = true;
      try {
        int left = TURN_BYTES;
        while (left > 0 && !paused && !finished && !refused && inputWaits()) {
          left -= readOne();
        }
        if (left <= 0 && inputWaits()) {
          goOnLater();
        }
      } finally {
        delivering = false;
      }
      if (!finished && (refused || !inputWaits()) && (failure != null || peerEnded)) {
        finish();
      }
    }
    flow();
  }

  /** Continues in a later task, after those that wait for the loop already. */
  private void goOnLater() {
    if (!goesOn) {
      goesOn = true;
      loop.execute(() -> {
        goesOn = false;
        deliver();
      });
    }
  }

  private int readOne() {
    int bytes = 0;
    try {
      bytes = read(receiver);
    } catch (WireException e) {
      refuse(new InvalidInput("from " + peer + " came " + e.getMessage()), e.status);
    } catch (RuntimeException | Error e) { // what was being read has a hole now, and nothing after it fits
      RegattaException why = ErrorMapping.regatta(e);
      refuse(why, ErrorMapping.status(why));
    }
    if (refused || finished) {
      drop();
    }
    return bytes;
  }

  private void refuse(RegattaException why, GrpcStatus status) {
    if (!finished) {
      refused = true;
      failure = why;
      close(status, why.getMessage());
    }
  }

  private void finish() {
    finished = true;
    drop();
    readNoMore();
    if (failure == null) {
      failure = endStatus(); // A status explains more than a message that was cut short because of it.
    }
    if (failure == null && !atBoundary()) {
      failure = new InvalidInput("the stream from " + peer + " ended in the middle of a message, after "
          + progress() + "; that message was not delivered");
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

  /** Returns true if the stream may end here; otherwise a message was cut short. */
  boolean atBoundary() {
    return true;
  }

  /** Returns the incomplete message's progress, for the error. */
  String progress() {
    return "";
  }

  private void tellFailure() {
    halfClosed = false;
    if (exceptionHandler != null) {
      exceptionHandler.handle(failure);
    }
  }

  /** Stops reading from the peer; {@link #close} follows. */
  final void giveUp() {
    halfClosed = false;
    if (!finished) {
      finished = true;
      drop();
      readNoMore();
      flow();
    }
  }

  private void flow() {
    flow(!finished && failure == null && (receiver == null || paused));
  }

  @Override
  public final Loop loop() {
    return loop;
  }

  @Override
  public final String peer() {
    return peer;
  }

  @Override
  public TensorStream receiver(FrameReceiver frames) {
    receiver = frames;
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
