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
 * The payloads of {@link SharedPayloads} that are lent instead of copied. They lie in {@link SharedMemory} of the
 * sender, which its peer has opened. The memory is the sender's again when the peer notes in the ring that it has read
 * them. A sender that abandons the stream before takes them back; its peer discards what it has read since. Owned by
 * the stream's loop.
 */
final class LentPayloads {
  /** Shortest payload to lend; copying a shorter one costs less than giving it back. */
  static final int MIN_BYTES = 128 << 10;
  /** Number of memories that one end may offer on a stream; they are numbered from 1. */
  private static final int MAX_MEMORIES = 16;
  private static final Logger LOG = LoggerFactory.getLogger(LentPayloads.class);

  private final HttpTensorStream stream;
  private final SharedPayloads owner;
  /** Memory of this end, by number less 1. */
  private final List<SharedMemory> offered = new ArrayList<>();
  /** Payloads that the peer has not read yet, in the order in which they were sent. */
  private final ArrayDeque<Promise<Void>> lent = new ArrayDeque<>();
  private long read;
  private boolean wanting;
  private boolean takenBack;
  private boolean ringing;
  /** Memory of the peer, by number; null: this end has not opened it. */
  private final ByteBuffer[] opened = new ByteBuffer[MAX_MEMORIES + 1];
  private final BitSet opening = new BitSet();

  LentPayloads(HttpTensorStream stream, SharedPayloads owner) {
    this.stream = stream;
    this.owner = owner;
  }

  /**
   * Lends this frame's payload to the peer if the peer has opened its memory; otherwise offers the memory.
   *
   * @param ring that the peer has opened
   * @return the frame for the peer, or null; {@link #whenRead} refers to the last one
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

  /** Completes when the peer has read the payload that was lent last; fails if it is taken back before. */
  Future<Void> whenRead() {
    return lent.getLast().future();
  }

  /**
   * Requests a ring signal from the peer once it has read the next payload. The peer may read a later one much later,
   * or in a call that it makes only after it has learned of the end of this one.
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

  /** Notes which payloads the peer has read. */
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

  /** Returns true if the peer has not read all lent payloads, as far as this end has noticed. */
  boolean isWaiting() {
    return !lent.isEmpty();
  }

  /** Takes back all lent payloads, and lends nothing more. */
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

  /** Opens memory that the peer offers. */
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
   * Returns a payload that the peer has lent.
   *
   * @throws IllegalArgumentException if there is no such payload
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
   * Notes that the payload has been read.
   *
   * @return false if the peer has taken it back meanwhile: the bytes that were read are then undefined
   */
  boolean giveBack(SharedRing.Reader ring) {
    if (!ring.isLent()) {
      return false;
    }
    if (ring.giveBack() && !ringing) {
      ringing = true;
      stream.loop().execute(() -> { // after the others that are read in this turn
        ringing = false;
        stream.ring();
      });
    }
    return true;
  }

  /** Ends the reading side. */
  void close() {
    Arrays.fill(opened, null);
  }

  /** Ends the sending side. */
  void sent() {
    offered.clear();
  }
}
