package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.memory.SharedRing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.SharedMemory;
import io.regatta.protocol.tensor.SharedPayload;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The payloads of a tensor stream between two processes of one machine, on a Unix domain socket, as far as they do not go over that:
 * in memory that both have mapped, one {@link SharedRing} for each direction. The sender copies a payload there, and its message
 * says where; the receiver is given it where it lies. What lies in memory that others can read is not even copied ({@link
 * LentPayloads}). A ring is made when the first payload is sent that is long enough for it,
 * and used from when the peer has it; until then, and where there can be none, payloads go over the socket. Both ends say by a
 * header of the request and of the answer that they can do this. Owned by the stream's loop.
 */
final class SharedPayloads {
  /** Of request and answer: the end that sends it can read shared memory. */
  static final String HEADER = "regatta-shared-memory";
  static final String HEADER_VALUE = "1";
  private static final Logger LOG = LoggerFactory.getLogger(SharedPayloads.class);
  /** Some messages of the usual size, and little enough to stay in a processor's cache. */
  static final int CAPACITY = 4 << 20;
  /** What is longer might have to wait for room that never comes. */
  private static final int MAX_BYTES = CAPACITY / 2;
  /** What is shorter costs the socket little more than the message itself. */
  private static final int MIN_BYTES = 32 << 10;
  /** A peer that has another file system in memory never takes any. */
  private static final long UNTAKEN_MILLIS = 10_000;
  private static final AtomicBoolean SAID = new AtomicBoolean();

  private final HttpTensorStream stream;
  private final LentPayloads lent;
  /** Of this end. */
  private final boolean allowed;
  private final int chunkBytes;
  private boolean peerAllows;
  /** Null until it has been made. */
  private SharedRing.Writer out;
  /** Null until it has been taken. */
  private SharedRing.Reader in;
  private boolean offered;
  /** The peer has it. */
  private boolean taken;
  private boolean waiting;
  /** Will be told when the peer rings. */
  private boolean listening;
  /** The peer has offered some. */
  private boolean taking;
  /** Also looked at where memory is made. */
  private volatile boolean over;

  SharedPayloads(HttpTensorStream stream, boolean isUnix, StreamOptions options) {
    this.stream = stream;
    lent = new LentPayloads(stream, this);
    allowed = isUnix && options.transport().isSharedMemoryAllowed();
    chunkBytes = Math.min(options.chunkBytes(), MAX_BYTES);
  }

  /** Whether this end can do it, on this connection. */
  boolean isAllowed() {
    return allowed;
  }

  /** What the peer has said. */
  void peer(String header) {
    peerAllows = HEADER_VALUE.equals(header);
  }

  /** Whether the peer has memory that this end writes to. */
  boolean isTaken() {
    taken |= out != null && out.isTaken();
    return taken && out != null;
  }

  /** Whether the sender should wait: there is no room for a chunk; it is told when there is. */
  boolean isFull() {
    boolean full = isTaken() && !out.hasRoom(chunkBytes);
    if (full && !waiting) {
      waiting = true;
      listen();
    }
    return full;
  }

  /** Wants to know when the peer rings. */
  void listen() {
    if (!listening) {
      listening = true;
      stream.onRing(this::rung);
    }
  }

  private void rung() {
    listening = false;
    if (out != null) {
      lent.want(out);
    }
    if (waiting) {
      waiting = false;
      stream.drained();
    }
  }

  boolean isOver() {
    return over;
  }

  /** Looks what of that which has been lent the peer has read. */
  void noticeRead() {
    if (out != null) {
      lent.notice(out);
    }
  }

  /** All that has been lent is this end's again; what the peer has not read yet it must not use. */
  void takeBack() {
    if (out != null) {
      lent.takeBack(out, stream.failure() != null ? stream.failure()
          : new PeerLost("the tensor stream with " + stream.peer() + " has ended before the peer had read what was lent to it"));
    }
  }

  /**
   * What goes over the socket.
   *
   * @param read when the peer has read the payload, which lies elsewhere until then; null: nothing is lent
   */
  record Placed(TensorFrame frame, Future<Void> read) {}

  /** Of this frame: without its payload, if that can be lent, or if there is room for it in shared memory. */
  Placed place(TensorFrame frame) {
    int bytes = frame.payload().remaining();
    if (!allowed || bytes < MIN_BYTES || bytes > MAX_BYTES && frame.memory() == null) {
      return new Placed(frame, null);
    }
    TensorFrame told = isTaken() ? lent.lend(frame, out) : null;
    return told != null ? new Placed(told, lent.whenRead()) : new Placed(copied(frame, bytes), null);
  }

  private TensorFrame copied(TensorFrame frame, int bytes) {
    if (!isTaken()) {
      offer();
      return frame;
    }
    if (bytes > MAX_BYTES || !out.hasRoom(bytes)) {
      return frame;
    }
    long at = out.next(bytes);
    out.write(bytes).put(frame.payload().duplicate());
    return TensorFrame.of(frame.header().toBuilder().clearPayload()
        .setShared(SharedPayload.newBuilder().setAt(at).setBytes(bytes).build()).build());
  }

  private void offer() {
    if (offered || over || !peerAllows || !stream.hasLane()) {
      return;
    }
    offered = true;
    blocking(() -> {
      SharedRing.Writer ring = SharedRing.create(CAPACITY);
      if (over) {
        ring.close();
      }
      return ring;
    }).onSuccess(ring -> {
      out = ring;
      if (over) {
        forget();
        return;
      }
      stream.send(TensorFrame.of(TensorMessage.newBuilder().setSharedMemory(SharedMemory.newBuilder().setName(ring.name())).build()));
      stream.loop().after(UNTAKEN_MILLIS, this::forget);
    }).onFailure(e -> {
      if (!isEnd(e) && SAID.compareAndSet(false, true)) {
        LOG.warn("payloads to {}, on this machine, go over a socket, for there is no memory to share: {}", stream.peer(), e.toString());
      }
    });
  }

  /** By the end of this Vert.x. */
  private static boolean isEnd(Throwable e) {
    return e instanceof ClosedByInterruptException || e instanceof RejectedExecutionException;
  }

  <T> Future<T> blocking(Callable<T> call) {
    try {
      return stream.blocking(call);
    } catch (RejectedExecutionException e) {
      return Future.failedFuture(e);
    }
  }

  /** The peer offers a ring. */
  void take(String name) {
    if (over || !allowed || taking || !stream.hasLane()) {
      return;
    }
    taking = true;
    blocking(() -> SharedRing.open(name)).onSuccess(ring -> {
      if (!over) {
        in = ring;
        ring.take();
      }
    }).onFailure(e -> LOG.debug("memory of {} cannot be shared: {}", stream.peer(), e.toString()));
  }

  /** Of the peer; null as long as none has been taken. */
  SharedRing.Reader in() {
    return in;
  }

  LentPayloads lent() {
    return lent;
  }

  /** Nothing more is read. */
  void close() {
    if (!over) {
      over = true;
      in = null;
      lent.close();
      forget();
    }
  }

  /** Nothing more is written. */
  void sent() {
    takeBack();
    lent.sent();
    forget();
    out = null;
  }

  /** Gives memory up that the peer has not taken, with its name. */
  private void forget() {
    SharedRing.Writer made = out;
    if (made == null || isTaken()) {
      return;
    }
    out = null;
    try {
      made.close();
    } catch (IOException e) {
      LOG.debug("shared memory {} stays: {}", made.name(), e.toString());
    }
  }
}
