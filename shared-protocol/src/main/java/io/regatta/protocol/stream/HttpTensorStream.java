package io.regatta.protocol.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.ErrorMapping;
import io.regatta.protocol.http2.DataLane;
import io.regatta.protocol.http2.DataStream;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.common.GrpcStatus;
import java.util.ArrayDeque;

/**
 * A tensor stream over a Vert.x HTTP/2 request and response; what both ends share. Owned by its context. Bytes go past
 * Vert.x where the connection has a {@link DataLane}, otherwise through the request and the response. Those that arrive
 * before a receiver is set, or while paused, wait here, and the peer is held back: on a lane by what the stream's window
 * allows, otherwise by pausing the network below, so that they are those of one read at most.
 */
abstract class HttpTensorStream implements TensorStream {
  /** Of what is to be sent past Vert.x, so much may wait: some chunks, so that the socket never runs dry. */
  private static final int MAX_QUEUE_BYTES = 2 << 20;

  private final Context context;
  private final String peer;
  private final int queueBytes;
  private final TensorFrameDecoder decoder;
  private final ArrayDeque<ByteBuf> received = new ArrayDeque<>();
  /** Null where the bytes go through Vert.x. */
  private DataStream lane;
  private ReadStream<Buffer> source;
  private FrameReceiver receiver;
  private Handler<Void> endHandler;
  private Handler<RegattaException> exceptionHandler;
  private boolean paused;
  private boolean delivering;
  /** The peer has ended its side: all its bytes have been read. */
  private boolean sourceEnded;
  /** Ended or broken: it must not be paused or resumed any more. */
  private boolean sourceGone;
  /** What came cannot be read, so nothing after it can. */
  private boolean refused;
  /** Why nothing more will be read; delivered behind the frames that came before. */
  private RegattaException failure;
  /** The end or the failure has been delivered, or this side has given up: nothing more is read. */
  private boolean finished;
  /** The peer's clean end has been delivered, and this side may still write. */
  private boolean halfClosed;

  HttpTensorStream(Context context, String peer, StreamOptions options) {
    this.context = context;
    this.peer = peer;
    queueBytes = Math.min(MAX_QUEUE_BYTES, options.initialWindowBytes());
    decoder = new TensorFrameDecoder(options.maxMessageBytes());
  }

  /** Takes the way past Vert.x if there is one; the stream is open, and nothing of it has been read. */
  final void takeLane(HttpConnection connection, int streamId) {
    DataLane way = DataLane.of(connection);
    if (way != null) {
      lane = way.open(context, streamId, queueBytes, this::piece);
    }
  }

  /** Whether the bytes go past Vert.x. */
  final boolean hasLane() {
    return lane != null;
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
    // With a lane, what comes this way is what nobody reads any more; Vert.x itself gives its bytes back.
    from.handler(buffer -> {
      if (lane == null) {
        piece(((BufferInternal) buffer).getByteBuf());
      }
    });
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

  private void piece(ByteBuf bytes) {
    received.add(bytes);
    if (failure != null || finished) {
      drop(); // so that the peer's last bytes do not hold the connection's window
    } else {
      deliver();
    }
  }

  /** Reads bytes that wait, up to the end of a frame or of one piece. */
  private void feed() {
    ByteBuf bytes = received.poll();
    int before = bytes.readableBytes();
    try {
      decoder.feed(bytes, receiver);
    } catch (WireException e) {
      refuse(new InvalidInput("from " + peer + " came " + e.getMessage()), e.status);
    } catch (OutOfMemoryError e) { // what was being read has a hole now, and nothing after it fits
      refuse(new Overloaded("a message from " + peer + " could not be taken in here: " + e
          + "; give this process a larger heap"), GrpcStatus.RESOURCE_EXHAUSTED);
    } catch (RuntimeException | Error e) {
      RegattaException why = ErrorMapping.regatta(e);
      refuse(why, ErrorMapping.status(why));
    }
    consumed(before - bytes.readableBytes());
    if (bytes.isReadable()) {
      received.addFirst(bytes);
      if (refused || finished) {
        drop();
      }
    } else {
      bytes.release();
    }
  }

  private void refuse(RegattaException why, GrpcStatus status) {
    if (!finished) {
      refused = true;
      failure = why;
      close(status, why.getMessage());
    }
  }

  private void drop() {
    for (ByteBuf bytes = received.poll(); bytes != null; bytes = received.poll()) {
      consumed(bytes.readableBytes());
      bytes.release();
    }
  }

  private void consumed(int bytes) {
    if (lane != null) {
      lane.consumed(bytes);
    }
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
    if (!delivering && !finished && receiver != null) {
      delivering = true;
      try {
        while (!paused && !finished && !refused && source != null && !received.isEmpty()) {
          feed();
        }
      } finally {
        delivering = false;
      }
      if (!finished && (refused || source == null || received.isEmpty()) && (failure != null || sourceEnded)) {
        finish();
      }
    }
    flow();
  }

  private void finish() {
    finished = true;
    readNoMore();
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
      readNoMore();
      flow();
    }
  }

  private void readNoMore() {
    drop();
    if (lane != null) {
      lane.stopReading();
    }
  }

  private void flow() {
    if (source == null || sourceGone || lane != null) {
      return;
    }
    if (!finished && failure == null && (receiver == null || paused)) {
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
    Future<Void> written = lane == null ? sink().write(TensorFrameEncoder.encode(frame))
        : lane.write(Unpooled.wrappedBuffer(TensorFrameEncoder.head(frame)), Unpooled.wrappedBuffer(frame.payload()));
    return written.recover(e -> Future.failedFuture(
        failure != null ? failure : e instanceof RegattaException ? e : broke(e)));
  }

  @Override
  public boolean writeQueueFull() {
    return failure == null && !sinkEnded() && (lane == null ? sink().writeQueueFull() : lane.writeQueueFull());
  }

  @Override
  public TensorStream drainHandler(Handler<Void> drain) {
    if (lane != null) {
      lane.drainHandler(drain);
    } else if (!sinkEnded()) {
      sink().drainHandler(drain);
    }
    return this;
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
