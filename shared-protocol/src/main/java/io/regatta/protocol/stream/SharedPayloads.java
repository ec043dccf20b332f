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
 * The payloads of a tensor stream that do not go over its Unix domain socket: two processes of one machine share them
 * in memory that both have mapped. There is one {@link SharedRing} for each direction. The sender copies a payload to
 * the ring, and its message says where; the receiver reads it there. A payload that lies in shared memory already is
 * not copied at all ({@link LentPayloads}).
 *
 * <p>A ring is created when the first payload is sent that is long enough for it, and used once the peer has opened it.
 * Until then, and if there can be no ring, payloads go over the socket. A header of the request and of the answer says
 * that an end supports this. Owned by the stream's loop.
 */
final class SharedPayloads {
  /** Header of request and answer: the end that sends it can read shared memory. */
  static final String HEADER = "regatta-shared-memory";
  static final String HEADER_VALUE = "1";
  private static final Logger LOG = LoggerFactory.getLogger(SharedPayloads.class);
  /** Size of a ring: room for some messages of the usual size, and small enough for a processor's cache. */
  static final int CAPACITY = 4 << 20;
  /** Longest payload in a ring; a longer one might wait for room forever. */
  private static final int MAX_BYTES = CAPACITY / 2;
  /** Shortest payload in a ring; a shorter one costs the socket little more than its message. */
  private static final int MIN_BYTES = 32 << 10;
  /** Time after which a ring is removed that the peer has not opened: with another file system it never does. */
  private static final long UNTAKEN_MILLIS = 10_000;
  private static final AtomicBoolean SAID = new AtomicBoolean();

  private final HttpTensorStream stream;
  private final LentPayloads lent;
  /** True if this end can use shared memory on this connection. */
  private final boolean allowed;
  private final int chunkBytes;
  private boolean peerAllows;
  /** Null until it has been created. */
  private SharedRing.Writer out;
  /** Null until it has been taken. */
  private SharedRing.Reader in;
  private boolean offered;
  /** True if the peer has opened the ring of this end. */
  private boolean taken;
  private boolean waiting;
  /** True while this end waits for the peer's ring signal. */
  private boolean listening;
  /** True once the peer has offered a ring. */
  private boolean taking;
  /** Also read by the threads that create memory. */
  private volatile boolean over;

  SharedPayloads(HttpTensorStream stream, boolean isUnix, StreamOptions options) {
    this.stream = stream;
    lent = new LentPayloads(stream, this);
    allowed = isUnix && options.transport().isSharedMemoryAllowed();
    chunkBytes = Math.min(options.chunkBytes(), MAX_BYTES);
  }

  /** Returns true if this end can use shared memory on this connection. */
  boolean isAllowed() {
    return allowed;
  }

  /** Takes over the peer's header. */
  void peer(String header) {
    peerAllows = HEADER_VALUE.equals(header);
  }

  /** Returns true if the peer has opened the ring to which this end writes. */
  boolean isTaken() {
    taken |= out != null && out.isTaken();
    return taken && out != null;
  }

  /**
   * Returns true if the sender must wait, because there is no room for a chunk; the stream is notified once there is.
   */
  boolean isFull() {
    boolean full = isTaken() && !out.hasRoom(chunkBytes);
    if (full && !waiting) {
      waiting = true;
      listen();
    }
    return full;
  }

  /** Listens for the peer's ring signal. */
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

  /** Notes which lent payloads the peer has read. */
  void noticeRead() {
    if (out != null) {
      lent.notice(out);
    }
  }

  /** Takes back all lent payloads; the peer must not use those that it has not read yet. */
  void takeBack() {
    if (out != null) {
      lent.takeBack(out, stream.failure() != null ? stream.failure()
          : new PeerLost("the tensor stream with " + stream.peer() + " has ended before the peer had read what was lent to it"));
    }
  }

  /**
   * A frame as it goes over the socket.
   *
   * @param read completes when the peer has read the lent payload; null: nothing is lent
   */
  record Placed(TensorFrame frame, Future<Void> read) {}

  /** Returns the frame for the socket: without its payload if that can be lent, or fits into the ring. */
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

  /** Returns true if a call failed because this Vert.x ends. */
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

  /** Opens a ring that the peer offers. */
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

  /** Returns the peer's ring; null until it has been opened. */
  SharedRing.Reader in() {
    return in;
  }

  LentPayloads lent() {
    return lent;
  }

  /** Ends the reading side. */
  void close() {
    if (!over) {
      over = true;
      in = null;
      lent.close();
      forget();
    }
  }

  /** Ends the writing side. */
  void sent() {
    takeBack();
    lent.sent();
    forget();
    out = null;
  }

  /** Removes a ring that the peer has not opened, and its name. */
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
