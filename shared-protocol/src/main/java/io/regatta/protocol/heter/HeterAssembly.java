package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.stream.request.Assembly;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The assembly of one message between a trainer and a heter worker: tensors one after the other, whose sizes follow from
 * the first chunk. Owned by the loop of its stream.
 */
final class HeterAssembly extends Assembly {
  /** Factor by which the memory may exceed what has arrived, up to the announced total. */
  private static final long GROWTH = 16;
  private static final int MIN_MEMORY = 4096;

  private final long total;
  /** Null: the memory is not limited beyond the stream. */
  private final RequestMemory.Room room;
  private ByteBuffer memory;

  /**
   * Begins a message.
   *
   * @param first the header of its first chunk, which is to be added like all others
   * @param budget from which its bytes are taken until {@link #giveBack}
   * @param memory to be used if it is large enough; null: none
   */
  HeterAssembly(TensorMessage first, ByteBudget budget, ByteBuffer memory) {
    this(first, budget, memory, null);
  }

  /**
   * Begins a request, which takes room of the heter worker's memory until {@link #giveBackRoom}.
   *
   * @param all memory of all requests; null: not limited
   */
  HeterAssembly(TensorMessage first, ByteBudget budget, ByteBuffer memory, RequestMemory all) {
    super(first, budget);
    this.memory = memory == null ? ByteBuffer.allocateDirect(0) : memory.clear();
    total = first.getHeter().getTotal();
    check();
    room = all == null ? null : all.take(total);
  }

  private void check() {
    TensorMessage first = first();
    HeterFrame kind = first.getHeter();
    if (!first.hasHeter() || kind.getKindCase() == KindCase.KIND_NOT_SET) {
      throw wrong(first, "the message is no request and no answer of a heter worker");
    }
    long described = HeterCodec.carried(kind).stream().mapToLong(HeterCodec::bytes).sum();
    if (described != total || total > Integer.MAX_VALUE) {
      throw wrong(first, "its tensors have " + described + " bytes, but " + total
          + " are announced; both sides must have the same, and less than 2 GiB");
    }
    if (!take(total)) {
      throw wrong(first, total + " bytes do not fit into stream.max_request_bytes = " + limit()
          + " together with the unanswered batches of this stream; use smaller batches");
    }
  }

  /** Returns the room of this request among all; null: that is not limited. */
  RequestMemory.Room room() {
    return room;
  }

  @Override
  protected String kind() {
    return first().hasHeter() ? kindCase().name() : first().getBodyCase().name();
  }

  KindCase kindCase() {
    return first().getHeter().getKindCase();
  }

  @Override
  protected boolean isContinuedBy(TensorMessage h, int index) {
    return h.hasHeter() && (index == 0 || h.getHeter().getKindCase() == KindCase.KIND_NOT_SET);
  }

  @Override
  protected void beginSlice(TensorMessage h, int payloadBytes) {
    HeterFrame slice = h.getHeter();
    if (slice.getTotal() != total || slice.getOffset() != memory.position()
        || payloadBytes > total - slice.getOffset()) {
      throw wrong(h, payloadBytes + " bytes from " + slice.getOffset() + " of " + slice.getTotal()
          + " do not continue " + memory.position() + " of " + total);
    }
  }

  @Override
  public void payload(ByteBuf bytes) {
    int n = bytes.readableBytes();
    if (n > memory.remaining()) {
      long growth = room == null || room.isGranted() ? GROWTH : 1;
      long size = Math.min(total, Math.max(MIN_MEMORY, growth * (memory.position() + (long) n)));
      memory = ByteBuffer.allocateDirect((int) size).put(memory.flip());
    }
    memory.limit(memory.position() + n);
    bytes.readBytes(memory);
    memory.limit(memory.capacity());
  }

  @Override
  protected void checkWhole() {
    if (memory.position() < total) {
      throw wrong(first(), "only " + memory.position() + " of " + total + " bytes have come");
    }
  }

  /** Returns the tensors of the whole message, in its memory. */
  List<TensorData> tensors() {
    List<TensorData> tensors = new ArrayList<>();
    int at = 0;
    for (CutTensor tensor : HeterCodec.carried(first().getHeter())) {
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

  /** Gives back the room of this request among all. May be repeated. */
  void giveBackRoom() {
    if (room != null) {
      room.giveBack();
    }
  }

  @Override
  public void drop() {
    giveBackRoom();
  }
}
