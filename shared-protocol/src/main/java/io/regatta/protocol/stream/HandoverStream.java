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
 * One end of a tensor stream between two services of one JVM: frames are handed over as they are, without bytes of a
 * wire. A payload is read by the receiver where the sender has put it; until then the sender's {@link #send} is not
 * complete, and its window is used up by so much. Owned by its context; the two ends talk by tasks on each other's.
 */
final class HandoverStream extends StreamEnd {
  /** What a frame costs of the window beside its payload. */
  private static final int FRAME_BYTES = 64;

  private final boolean server;
  private final int maxMessageBytes;
  private final int windowBytes;
  /** What it shares with the other streams of its connection. */
  private final HandoverWindow window;
  private final Consumer<HandoverStream> closed;
  private final Executor arrivals;
  private final ArrayDeque<Sent> received = new ArrayDeque<>();
  /** What the other end has not read, in order. */
  private final ArrayDeque<Sent> unread = new ArrayDeque<>();
  private HandoverStream other;
  private Handler<Void> drain;
  /** What the other end has not read yet. */
  private long outstanding;
  private boolean full;
  /** This side has ended or given up, or has been told that there is nobody to write to. */
  private boolean ended;
  private boolean told;
  /** At the client: it has given up, and the server is to read nothing more of it. Read by the server's thread. */
  private volatile boolean reset;
  /** How the server ended, at the client. */
  private RegattaException endStatus;

  /** A frame on its way. It is the receiver's, to read it or not, or the sender's again: whoever takes it first. */
  private static final class Sent {
    final TensorFrame frame;
    final int size;
    /** The sender's. */
    final Promise<Void> read = Promise.promise();
    private final AtomicBoolean taken = new AtomicBoolean();

    Sent(TensorFrame frame) {
      this.frame = frame;
      size = frame.payload().remaining() + FRAME_BYTES;
    }

    /** False if the other end has it. */
    boolean take() {
      return taken.compareAndSet(false, true);
    }
  }

  /**
   * One end of a new stream.
   *
   * @param arrivals runs the other end's tasks on the loop, in order
   * @param peer what it calls the other end
   * @param window in which it sends
   * @param closed called once on its context when it is of no use any more
   */
  record End(Loop loop, Executor arrivals, String peer, StreamOptions options, HandoverWindow window,
      Consumer<HandoverStream> closed) {}

  /** The two ends of a new stream, the client's first. */
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
    } catch (RejectedExecutionException e) { // gone with its Vertx: nobody is left to tell
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

  /** The other end has read this frame, or will not: the payload and so much of the windows are the sender's again. */
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

  /** There is room in one of the windows that this end sends in. */
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
        // In a later turn: behind what the sender is told in this one about how the stream has ended.
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
      toOther(StreamEnd::peerEnded);
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

  /** There is nobody to write to any more. */
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
      drop(); // the client's memory is not lent for longer
    }
    lost(why);
  }

  /** The service behind one of the ends has closed: both ends break. To be called on this end's context. */
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

  /** What the other end has not begun to read is this one's again; what it reads just now is in a moment. */
  private void takeBack() {
    for (Sent sent : List.copyOf(unread)) {
      if (sent.take()) {
        settled(sent, false);
      }
    }
  }
}
