package io.regatta.protocol.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.http2.DataLane;
import io.regatta.protocol.http2.DataStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameDecoder;
import io.regatta.protocol.stream.frame.TensorFrameEncoder;
import io.regatta.protocol.vertx.NettyParts;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.ArrayDeque;
import java.util.concurrent.Callable;

/**
 * The common part of both ends of a tensor stream over a Vert.x HTTP/2 request and response. Owned by its loop. Bytes
 * pass Vert.x by if the connection has a {@link DataLane}, and otherwise go through the request and the response. Bytes
 * that arrive before a receiver is set, or while paused, wait here, and the peer is held back. On a lane they are
 * limited by the stream's window. Otherwise the network below is paused, so that they are those of one read at most.
 */
abstract class HttpTensorStream extends AbstractTensorStream {
  /** Limit of bytes that wait to be sent past Vert.x: some chunks, so that the socket never runs dry. */
  private static final int MAX_QUEUE_BYTES = 2 << 20;

  private final VertxLoop loop;
  private final HttpConnection connection;
  private final int queueBytes;
  private final TensorFrameDecoder decoder;
  private final SharedPayloads memory;
  private final PayloadReceiver receiving;
  private final ArrayDeque<ByteBuf> received = new ArrayDeque<>();
  /** Null if the bytes go through Vert.x. */
  private DataStream lane;
  /** Null until the peer has answered. */
  private ReadStream<Buffer> source;
  /** True once it has ended or broken: it must not be paused or resumed any more. */
  private boolean sourceGone;
  private Handler<Void> drain = v -> { };

  HttpTensorStream(VertxLoop loop, HttpConnection connection, String peer, StreamOptions options) {
    super(loop, peer);
    this.loop = loop;
    this.connection = connection;
    queueBytes = Math.min(MAX_QUEUE_BYTES, options.initialWindowBytes());
    decoder = new TensorFrameDecoder(options.maxMessageBytes());
    memory = new SharedPayloads(this, isUnix(connection.localAddress()) || isUnix(connection.remoteAddress()), options);
    receiving = new PayloadReceiver(this, memory, options.maxMessageBytes());
  }

  private static boolean isUnix(SocketAddress address) {
    return address != null && address.isDomainSocket();
  }

  /** Runs a blocking call on a worker thread; completes on this stream's loop. */
  final <T> Future<T> blocking(Callable<T> call) {
    return loop.context().executeBlocking(call, false);
  }

  /** Returns the payloads that do not go over the socket. */
  final SharedPayloads memory() {
    return memory;
  }

  /** Calls this once, at the peer's next signal. */
  final void onRing(Runnable rung) {
    lane.onRing(rung);
  }

  /** Notes that there is room for more. */
  final void drained() {
    drain.handle(null);
  }

  /**
   * Signals the peer, which may read nothing of this stream now, that there is room for its data, or that its lent
   * blocks have been read.
   */
  final void ring() {
    lane.ring();
  }

  /** Takes the way past Vert.x if there is one; the stream is open, and nothing of it has been read. */
  final void takeLane(int streamId) {
    DataLane way = DataLane.of(connection);
    if (way != null) {
      lane = way.open(loop, streamId, queueBytes, this::piece);
      if (lane != null && memory.isAllowed()) {
        lane.onEnd(memory::sent);
      }
    }
  }

  /** Returns true if the bytes go past Vert.x. */
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
      peerEnded();
    });
    // With a lane, only bytes arrive this way that are not read any more; Vert.x itself releases them.
    from.handler(buffer -> {
      if (lane == null) {
        piece(NettyParts.bytes(buffer));
      }
    });
    arrived();
  }

  private void piece(ByteBuf bytes) {
    received.add(bytes);
    memory.noticeRead(); // most lent blocks are released by the time at which the peer itself sends something
    arrived();
  }

  /** Returns the write side. */
  abstract WriteStream<Buffer> sink();

  /** Handles a failure of the transport: nothing can be written any more. Ends in {@link #lost}. */
  abstract void broken(Throwable cause);

  @Override
  final boolean inputWaits() {
    return source != null && !received.isEmpty();
  }

  @Override
  final int read(FrameReceiver to) {
    ByteBuf bytes = received.poll();
    int before = bytes.readableBytes();
    try {
      decoder.feed(bytes, receiving.to(to));
      return before - bytes.readableBytes() + receiving.takeRead();
    } finally {
      consumed(before - bytes.readableBytes());
      if (bytes.isReadable()) {
        received.addFirst(bytes);
      } else {
        bytes.release();
      }
    }
  }

  @Override
  final void drop() {
    for (ByteBuf bytes = received.poll(); bytes != null; bytes = received.poll()) {
      consumed(bytes.readableBytes()); // so that the peer's last bytes do not hold the connection's window
      bytes.release();
    }
  }

  private void consumed(int bytes) {
    if (lane != null) {
      lane.consumed(bytes);
    }
  }

  @Override
  final void readNoMore() {
    memory.close();
    if (lane != null) {
      lane.stopReading();
    }
  }

  @Override
  final boolean atBoundary() {
    return decoder.atBoundary() && !receiving.isTakenBack();
  }

  @Override
  final String progress() {
    return decoder.progress();
  }

  @Override
  final void flow(boolean hold) {
    if (source == null || sourceGone || lane != null) {
      return;
    }
    if (hold) {
      source.pause();
    } else {
      source.resume();
    }
  }

  @Override
  public Future<Void> send(TensorFrame wanted) {
    if (failure() != null) {
      return Future.failedFuture(failure());
    }
    if (sinkEnded()) {
      return Future.failedFuture(new PeerLost("the tensor stream with " + peer() + " has ended; open a new one"));
    }
    SharedPayloads.Placed placed = memory.place(wanted);
    Future<Void> written;
    try {
      written = write(placed.frame());
    } catch (RuntimeException | Error e) {
      memory.takeBack(); // the peer counts announced blocks
      throw e;
    }
    return (placed.read() == null ? written : written.compose(w -> placed.read())).recover(e -> {
      memory.takeBack(); // whatever the peer has read of it
      return Future.failedFuture(failure() != null ? failure() : e instanceof RegattaException ? e : broke(e));
    });
  }

  private Future<Void> write(TensorFrame frame) {
    return lane == null ? sink().write(TensorFrameEncoder.encode(frame))
        : lane.write(Unpooled.wrappedBuffer(TensorFrameEncoder.head(frame)), Unpooled.wrappedBuffer(frame.payload()));
  }

  @Override
  public TensorStream flushEach() {
    if (lane != null) {
      lane.flushEach();
    }
    return this;
  }

  @Override
  public boolean writeQueueFull() {
    return failure() == null && !sinkEnded() && ((lane == null ? sink().writeQueueFull() : lane.writeQueueFull()) || memory.isFull());
  }

  @Override
  public TensorStream drainHandler(Handler<Void> handler) {
    drain = handler;
    if (lane != null) {
      lane.drainHandler(drain);
    } else if (!sinkEnded()) {
      sink().drainHandler(drain);
    }
    return this;
  }

  @Override
  public Future<Void> fail(RegattaException error) {
    memory.takeBack();
    return super.fail(error);
  }

  @Override
  public void sever() {
    memory.takeBack();
    giveUp();
    DataLane.cut(connection);
  }
}
