package io.regatta.protocol.stream;

import io.netty.buffer.Unpooled;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.frame.TensorFrameDecoder;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One end of a tensor stream between two services of one JVM: frames are passed in-process, without bytes of a wire.
 * The receiver reads a payload in the sender's memory; until then the sender's {@link #send} is not complete, and the
 * payload counts in its window. Owned by its context; the two ends communicate by tasks on each other's.
 */
final class HandoverStream extends AbstractTensorStream {
  /** Bytes of the window that a frame takes beside its payload. */
  private static final int FRAME_BYTES = 64;

  private final boolean server;
  private final int maxMessageBytes;
  private final int windowBytes;
  /** Window shared with the other streams of its connection. */
  private final HandoverWindow window;
  private final Consumer<HandoverStream> closed;
  private final Executor arrivals;
  private final ArrayDeque<Sent> received = new ArrayDeque<>();
  /** Frames that the other end has not read, in order. */
  private final ArrayDeque<Sent> unread = new ArrayDeque<>();
  private HandoverStream other;
  private Handler<Void> drain;
  /** Bytes that the other end has not read yet. */
  private long outstanding;
  private boolean full;
  /** True once this side has ended or given up, or knows that its peer is gone. */
  private boolean ended;
  private boolean told;
  /**
   * At the client: true once it has given up, and the server must read nothing more of it. Read by the server's thread.
   */
  private volatile boolean reset;
  /** The server's end status, at the client. */
  private RegattaException endStatus;

  /**
   * A frame on its way. Either the receiver takes it, to read it or not, or the sender takes it back, whichever is
   * first.
   */
  private static final class Sent {
    final TensorFrame frame;
    final int size;
    /** Completes for the sender. */
    final Promise<Void> read = Promise.promise();
    private final AtomicBoolean taken = new AtomicBoolean();

    Sent(TensorFrame frame) {
      this.frame = frame;
      size = frame.payload().remaining() + FRAME_BYTES;
    }

    /** Takes it; false if the other end has it. */
    boolean take() {
      return taken.compareAndSet(false, true);
    }
  }

  /**
   * One end of a new stream.
   *
   * @param arrivals runs the other end's tasks on the loop, in order
   * @param peer name of the other end
   * @param window in which it sends
   * @param closed called once on its context when it is not usable any more
   */
  record End(Loop loop, Executor arrivals, String peer, StreamOptions options, HandoverWindow window,
      Consumer<HandoverStream> closed) {}

  /** Returns the two ends of a new stream, the client's first. */
  static HandoverStream[] pair(End client, End server) {
    HandoverStream c = new HandoverStream(client, server.options, false);
    HandoverStream s = new HandoverStream(server, client.options, true);
    c.other = s;
    s.other = c;
    return new HandoverStream[] {c, s};
  }

  private HandoverStream(End end, StreamOptions others, boolean server) {
    super(end.loop, end.peer);
    this.server = server;
    maxMessageBytes = end.options.maxMessageBytes();
    windowBytes = others.initialWindowBytes();
    window = end.window;
    arrivals = end.arrivals;
    closed = end.closed;
  }

  private void toOther(Handler<HandoverStream> task) {
    try {
      other.arrivals.execute(() -> task.handle(other));
    } catch (RejectedExecutionException e) { // gone with its Vertx: nobody is left to be notified
      loop().execute(() -> {
        gone(new PeerLost("the tensor stream with " + peer() + " broke: its event loop is gone", e));
        takeBack();
      });
    }
  }

  @Override
  public Future<Void> send(TensorFrame frame) {
    if (failure() != null) {
      return Future.failedFuture(failure());
    }
    if (ended) {
      return Future.failedFuture(new PeerLost("the tensor stream with " + peer() + " has ended; open a new one"));
    }
    Sent sent = new Sent(frame);
    outstanding += sent.size;
    window.take(sent.size);
    full |= outstanding >= windowBytes;
    unread.add(sent);
    toOther(o -> {
      o.received.add(sent);
      if (reset) {
        o.drop();
      } else {
        o.arrived();
      }
    });
    return sent.read.future();
  }

  @Override
  boolean inputWaits() {
    return !received.isEmpty();
  }

  @Override
  int read(FrameReceiver to) {
    Sent sent = received.poll();
    if (!sent.take()) {
      return sent.size;
    }
    try {
      TensorMessage header = sent.frame.header();
      ByteBuffer payload = sent.frame.payload();
      int length = header.getSerializedSize() + payload.remaining();
      if (length > maxMessageBytes) {
        throw TensorFrameDecoder.tooLong(length, maxMessageBytes);
      }
      to.begin(header, payload.remaining());
      if (payload.hasRemaining()) {
        to.payload(Unpooled.wrappedBuffer(payload));
      }
      to.end();
      return sent.size;
    } finally {
      toOther(sender -> sender.settled(sent, true));
    }
  }

  /**
   * Notes that the other end has read this frame, or will not: the payload and its part of the windows are the sender's
   * again.
   */
  private void settled(Sent sent, boolean wasRead) {
    unread.remove(sent);
    outstanding -= sent.size;
    if (wasRead) {
      sent.read.complete();
    } else {
      sent.read.fail(failure() != null ? failure() : endStatus != null ? endStatus
          : new PeerLost("the tensor stream with " + peer() + " has ended, and this frame was not read"));
    }
    if (full && outstanding <= windowBytes / 2) {
      full = false;
      roomForMore();
    }
    window.giveBack(sent.size);
  }

  /** Continues to send: there is room in one of the windows of this end. */
  void roomForMore() {
    if (drain != null && !ended && !full && !window.isFull()) {
      drain.handle(null);
    }
  }

  @Override
  void drop() {
    for (Sent sent = received.poll(); sent != null; sent = received.poll()) {
      Sent dropped = sent;
      if (dropped.take()) {
        // In a later task: after the notices of this one about how the stream has ended.
        loop().execute(() -> toOther(sender -> sender.settled(dropped, false)));
      }
    }
  }

  @Override
  boolean sinkEnded() {
    return ended;
  }

  @Override
  RegattaException endStatus() {
    return endStatus;
  }

  @Override
  void over() {
    if (!server) { // as over HTTP/2: a server that has ended reads no more
      close(GrpcStatus.CANCELLED, null);
    }
  }

  @Override
  public boolean writeQueueFull() {
    return failure() == null && !ended && (full || window.isFull());
  }

  @Override
  public TensorStream drainHandler(Handler<Void> handler) {
    drain = handler;
    return this;
  }

  @Override
  public Future<Void> end() {
    if (server) {
      giveUp();
      return close(GrpcStatus.OK, null);
    }
    if (!ended) {
      ended = true;
      toOther(AbstractTensorStream::peerEnded);
    }
    return Future.succeededFuture();
  }

  @Override
  Future<Void> close(GrpcStatus status, String message) {
    if (!told) {
      told = true;
      boolean before = ended;
      ended = true;
      if (!server) {
        reset = true;
        toOther(o -> o.gone(new PeerLost("the tensor stream with " + o.peer() + " broke: it was reset")));
      } else if (!before) {
        RegattaException how = status == GrpcStatus.OK ? null : ErrorMapping.exception(status, message);
        toOther(o -> {
          o.endStatus = how;
          o.peerEnded();
        });
      }
      closed.accept(this);
    }
    return Future.succeededFuture();
  }

  /** Ends the stream: the peer is gone. */
  private void gone(PeerLost why) {
    if (server && ended) {
      return;
    }
    ended = true;
    if (!told) {
      told = true;
      closed.accept(this);
    }
    if (server) {
      drop(); // the client's memory is not borrowed any longer
    }
    lost(why);
  }

  /** Breaks both ends, because the service at one of them has closed. To be called on this end's context. */
  void breakOff(String why) {
    reset = !server;
    gone(new PeerLost("the tensor stream with " + peer() + " broke: " + why));
    toOther(o -> {
      o.gone(new PeerLost("the tensor stream with " + o.peer() + " broke: " + why));
      if (!o.server) {
        o.takeBack(); // the service reads nothing more, and its loop may be gone
      }
    });
  }

  @Override
  public void sever() {
    giveUp();
    close(GrpcStatus.UNAVAILABLE, "the tensor stream with this process was cut off by its peer");
    takeBack();
  }

  /**
   * Takes back the frames that the other end has not begun to read; a frame being read now is returned within a moment.
   */
  private void takeBack() {
    for (Sent sent : List.copyOf(unread)) {
      if (sent.take()) {
        settled(sent, false);
      }
    }
  }
}
