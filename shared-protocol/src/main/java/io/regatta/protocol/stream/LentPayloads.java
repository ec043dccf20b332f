package io.regatta.protocol.stream;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.memory.SharedMemory;
import io.regatta.protocol.memory.SharedRing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.SharedPayload;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Those of a stream's {@link SharedPayloads} that nobody copies: they lie in {@link SharedMemory} of the sender's, which its peer has
 * opened, and which is the sender's again when the peer says in the ring that it has read them. A sender that gives the stream up before
 * takes them back: what its peer has read since, it refuses. Owned by the stream's loop.
 */
final class LentPayloads {
  /** What is shorter is sooner copied than given back. */
  static final int MIN_BYTES = 128 << 10;
  /** That one end may offer to the other on a stream; numbers begin with 1. */
  private static final int MAX_MEMORIES = 16;
  private static final Logger LOG = LoggerFactory.getLogger(LentPayloads.class);

  private final HttpTensorStream stream;
  private final SharedPayloads owner;
  /** Memory of this end, by number less 1. */
  private final List<SharedMemory> offered = new ArrayList<>();
  /** Not read yet, in the order in which they were sent. */
  private final ArrayDeque<Promise<Void>> lent = new ArrayDeque<>();
  private long read;
  private boolean wanting;
  private boolean takenBack;
  private boolean ringing;
  /** Memory of the peer's, by number; null: none that this end has opened. */
  private final ByteBuffer[] opened = new ByteBuffer[MAX_MEMORIES + 1];
  private final BitSet opening = new BitSet();

  LentPayloads(HttpTensorStream stream, SharedPayloads owner) {
    this.stream = stream;
    this.owner = owner;
  }

  /**
   * Lends this frame's payload to the peer, if that has opened the memory it lies in; otherwise offers that.
   *
   * @param ring that the peer has taken
   * @return the frame that tells the peer, or null; {@link #whenRead} is of the last one
   */
  TensorFrame lend(TensorFrame frame, SharedRing.Writer ring) {
    int bytes = frame.payload().remaining();
    if (takenBack || bytes < MIN_BYTES || !(frame.memory() instanceof SharedMemory memory)) {
      return null;
    }
    int number = offered.indexOf(memory) + 1;
    if (number == 0) {
      offer(memory);
      return null;
    }
    if (!ring.isOpen(number)) {
      return null;
    }
    lent.add(Promise.promise());
    if (!wanting) {
      wanting = true;
      stream.loop().execute(() -> want(ring)); // once for all that is lent in this turn
    }
    return TensorFrame.of(frame.header().toBuilder().clearPayload().setShared(SharedPayload.newBuilder().setMemory(number)
        .setAt(frame.memoryAt()).setBytes(bytes).build()).build());
  }

  private void offer(SharedMemory memory) {
    if (offered.size() < MAX_MEMORIES) {
      offered.add(memory);
      TensorMessage offer = TensorMessage.newBuilder().setSharedMemory(io.regatta.protocol.tensor.SharedMemory.newBuilder()
          .setNumber(offered.size()).setName(memory.name())).build();
      stream.send(TensorFrame.of(offer)); // if it fails, so does the stream
    }
  }

  /** Completes when the peer has read what was lent last; fails when that is taken back before. */
  Future<Void> whenRead() {
    return lent.getLast().future();
  }

  /**
   * Has the peer ring when it has read the next one: what it reads then may be long in coming, and may be for a call that the peer makes
   * only when it has heard of the end of this one.
   */
  void want(SharedRing.Writer ring) {
    wanting = false;
    notice(ring);
    if (!lent.isEmpty()) {
      owner.listen();
      ring.wantsRead(read + 1);
      notice(ring);
    }
  }

  /** Looks what the peer has read. */
  void notice(SharedRing.Writer ring) {
    if (lent.isEmpty()) {
      return;
    }
    long now = ring.lentRead();
    while (read < now && !lent.isEmpty()) {
      read++; // before anybody is told, who may come here again
      lent.remove().complete();
    }
  }

  /** Whether there is something that the peer has not read, as far as this end has noticed. */
  boolean isWaiting() {
    return !lent.isEmpty();
  }

  /** All that is lent is this end's again, and nothing more will be lent. */
  void takeBack(SharedRing.Writer ring, RegattaException why) {
    notice(ring);
    takenBack = true;
    if (!lent.isEmpty()) {
      ring.takeBack();
      List<Promise<Void>> failed = List.copyOf(lent);
      lent.clear();
      failed.forEach(promise -> promise.fail(why));
    }
  }

  /** The peer offers memory of its own. */
  void offered(int number, String name, SharedRing.Reader ring) {
    if (number < 1 || number > MAX_MEMORIES || opening.get(number)) {
      throw new IllegalArgumentException("memory number " + number + " is offered, of 1 to " + MAX_MEMORIES + ", each once");
    }
    opening.set(number);
    owner.blocking(() -> SharedMemory.open(name)).onSuccess(memory -> {
      if (!owner.isOver()) {
        opened[number] = memory;
        ring.open(number);
      }
    }).onFailure(e -> LOG.debug("memory {} of {} cannot be read here: {}", name, stream.peer(), e.toString()));
  }

  /**
   * A payload that the peer has lent.
   *
   * @throws IllegalArgumentException if there cannot be any
   */
  ByteBuffer read(SharedPayload payload) {
    int number = payload.getMemory();
    long at = payload.getAt();
    int bytes = payload.getBytes();
    ByteBuffer memory = number < 1 || number > MAX_MEMORIES ? null : opened[number];
    if (memory == null || bytes < 0 || at < 0 || at > memory.capacity() - bytes) {
      throw new IllegalArgumentException(bytes + " bytes at " + at + " of memory number " + number + ", "
          + (memory == null ? "which is not open" : "of which there are " + memory.capacity()));
    }
    return memory.slice((int) at, bytes);
  }

  /**
   * That payload has been read.
   *
   * @return false if the peer has taken it back meanwhile: what was read may be anything
   */
  boolean giveBack(SharedRing.Reader ring) {
    if (!ring.isLent()) {
      return false;
    }
    if (ring.giveBack() && !ringing) {
      ringing = true;
      stream.loop().execute(() -> { // behind the others that are read in this turn
        ringing = false;
        stream.ring();
      });
    }
    return true;
  }

  /** Nothing more is read. */
  void close() {
    Arrays.fill(opened, null);
  }

  /** Nothing more is sent. */
  void sent() {
    offered.clear();
  }
}
