package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.shard.ByteBudget;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The assembly of one message from its chunks, none of which is trusted: order, offsets, sizes and the announced total
 * are checked against the shapes. Memory grows with the bytes that have arrived, not with those that are announced.
 * Owned by the loop of its stream.
 */
final class HeterAssembly {
  /** Factor by which the room may exceed what has arrived, up to the announced total. */
  private static final long GROWTH = 16;
  private static final int MIN_ROOM = 4096;

  private final TensorMessage first;
  private final ByteBudget budget;
  private final int count;
  private final long total;
  private ByteBuffer memory;
  private int chunks;
  private long taken;

  /**
   * Begins a message.
   *
   * @param first the header of its first chunk, which is to be added like all others
   * @param budget from which its bytes are taken until {@link #giveBack}
   * @param memory to be used if it is large enough; null: none
   */
  HeterAssembly(TensorMessage first, ByteBudget budget, ByteBuffer memory) {
    this.first = first;
    this.budget = budget;
    this.memory = memory == null ? ByteBuffer.allocateDirect(0) : memory.clear();
    count = Math.max(1, first.getChunkCount());
    total = first.getHeter().getTotal();
    check();
  }

  private void check() {
    HeterFrame kind = first.getHeter();
    if (!first.hasHeter() || kind.getKindCase() == KindCase.KIND_NOT_SET) {
      throw wrong(first, "the message is no request and no answer of a heter worker");
    }
    long described = HeterCodec.carried(kind).stream().mapToLong(HeterCodec::bytes).sum();
    if (described != total || total > Integer.MAX_VALUE) {
      throw wrong(first, "its tensors have " + described + " bytes, but " + total
          + " are announced; both sides must have the same, and less than 2 GiB");
    }
    if (!budget.take(total)) {
      throw wrong(first, total + " bytes do not fit into stream.max_request_bytes = " + budget.limit()
          + " together with the unanswered batches of this stream; use smaller batches");
    }
    taken = total;
  }

  TensorMessage first() {
    return first;
  }

  KindCase kind() {
    return first.getHeter().getKindCase();
  }

  /**
   * Begins the next chunk.
   *
   * @param payloadBytes announced size of its payload
   * @throws InvalidInput if it does not fit
   */
  void begin(TensorMessage h, int payloadBytes) {
    if (!h.hasHeter() || h.getChunkIndex() != chunks || Math.max(1, h.getChunkCount()) != count
        || chunks > 0 && h.getHeter().getKindCase() != KindCase.KIND_NOT_SET) {
      throw wrong(h, "chunk " + chunks + " of " + count + " was expected");
    }
    HeterFrame slice = h.getHeter();
    if (slice.getTotal() != total || slice.getOffset() != memory.position()
        || payloadBytes > total - slice.getOffset()) {
      throw wrong(h, payloadBytes + " bytes from " + slice.getOffset() + " of " + slice.getTotal()
          + " do not continue " + memory.position() + " of " + total);
    }
  }

  /** Copies the next bytes of the chunk's payload, cut anywhere, to where they belong; all of them are read. */
  void payload(ByteBuf bytes) {
    int n = bytes.readableBytes();
    if (n > memory.remaining()) {
      long room = Math.min(total, Math.max(MIN_ROOM, GROWTH * (memory.position() + (long) n)));
      memory = ByteBuffer.allocateDirect((int) room).put(memory.flip());
    }
    memory.limit(memory.position() + n);
    bytes.readBytes(memory);
    memory.limit(memory.capacity());
  }

  /**
   * Ends the chunk.
   *
   * @return true if it was the last one
   * @throws InvalidInput if bytes are missing
   */
  boolean end() {
    if (++chunks < count) {
      return false;
    }
    if (memory.position() < total) {
      throw wrong(first, "only " + memory.position() + " of " + total + " bytes have come");
    }
    return true;
  }

  /** Returns the tensors of the whole message, in its memory. */
  List<TensorData> tensors() {
    List<TensorData> tensors = new ArrayList<>();
    int at = 0;
    for (CutTensor tensor : HeterCodec.carried(first.getHeter())) {
      int size = (int) HeterCodec.bytes(tensor);
      tensors.add(new TensorData(tensor, memory.slice(at, size).order(ByteOrder.LITTLE_ENDIAN)));
      at += size;
    }
    return tensors;
  }

  /** Returns the memory, for a later message; nobody may use the tensors then. */
  ByteBuffer memory() {
    return memory;
  }

  /** Gives the budget back what this message has taken of it. May be repeated. */
  void giveBack() {
    budget.giveBack(taken);
    taken = 0;
  }

  private static InvalidInput wrong(TensorMessage h, String problem) {
    return new InvalidInput((h.hasHeter() ? h.getHeter().getKindCase() : h.getBodyCase()) + " of job '" + h.getJob()
        + "', rank " + h.getRank() + ", chunk " + h.getChunkIndex() + " of " + h.getChunkCount() + ": " + problem);
  }
}
