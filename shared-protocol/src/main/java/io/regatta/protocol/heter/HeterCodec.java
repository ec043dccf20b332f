package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;

/**
 * The messages between a trainer and a heter worker as frames. Large tensors are sent from the memory in which they
 * lie; neighbours that are small share a frame, into which they are copied. Pure functions but for pooled memory; any
 * thread.
 */
public final class HeterCodec {
  /** Size from which a frame of its own costs less than a copy. */
  private static final int MIN_RUN = 32 << 10;

  private HeterCodec() {}

  /** Returns the frames of a batch, whose memory must not change until they have been sent. */
  public static Iterator<Outgoing> batch(TensorMessage.Builder header, BatchToCompute batch, int chunkBytes) {
    CutBatch.Builder head = batch.head().toBuilder().setReplica(batch.id().replica()).setNumber(batch.id().number())
        .clearTensors();
    batch.tensors().forEach(data -> head.addTensors(data.tensor()));
    return frames(header, HeterFrame.newBuilder().setBatch(head).build(), batch.tensors(), chunkBytes);
  }

  /** Returns the frames of a result, whose memory must not change until they have been sent. */
  public static Iterator<Outgoing> result(TensorMessage.Builder header, ComputedBatch result, int chunkBytes) {
    CutResult.Builder head = result.head().toBuilder().setReplica(result.id().replica())
        .setNumber(result.id().number()).clearTensors();
    result.tensors().forEach(data -> head.addTensors(data.tensor()));
    return frames(header, HeterFrame.newBuilder().setResult(head).build(), result.tensors(), chunkBytes);
  }

  /** Returns the only frame of a message without tensors. */
  public static Iterator<Outgoing> one(TensorMessage.Builder header, HeterFrame kind) {
    return Outgoing.one(header.setChunkCount(1).setHeter(kind).build());
  }

  private static Iterator<Outgoing> frames(TensorMessage.Builder header, HeterFrame kind, List<TensorData> tensors,
      int chunkBytes) {
    tensors.forEach(HeterCodec::checkSize);
    return new Frames(header, kind, tensors.stream().map(TensorData::bytes).toList(), chunkBytes);
  }

  private static void checkSize(TensorData data) {
    long expected = bytes(data.tensor());
    if (expected != data.bytes().remaining()) {
      throw new InvalidInput(words(data.tensor()) + " has " + data.bytes().remaining() + " bytes instead of "
          + expected);
    }
  }

  /** Returns the batch of a whole message. */
  static BatchToCompute batch(HeterAssembly whole) {
    TensorMessage first = whole.first();
    CutBatch head = first.getHeter().getBatch();
    BatchId id = new BatchId(trainer(first), head.getReplica(), head.getNumber());
    return new BatchToCompute(id, head.toBuilder().clearTensors().build(), whole.tensors());
  }

  /** Returns the result of a whole message. */
  static ComputedBatch result(HeterAssembly whole) {
    TensorMessage first = whole.first();
    CutResult head = first.getHeter().getResult();
    BatchId id = new BatchId(trainer(first), head.getReplica(), head.getNumber());
    return new ComputedBatch(id, head.toBuilder().clearTensors().build(), whole.tensors());
  }

  static TrainerId trainer(TensorMessage header) {
    return new TrainerId(header.getRank(), header.getIncarnation());
  }

  /** Returns the tensors that a message of this kind carries. */
  static List<CutTensor> carried(HeterFrame kind) {
    return kind.getKindCase() == KindCase.BATCH ? kind.getBatch().getTensorsList()
        : kind.getKindCase() == KindCase.RESULT ? kind.getResult().getTensorsList() : List.of();
  }

  /**
   * Returns the bytes of a tensor's elements.
   *
   * @throws InvalidInput if its type is unknown, a dimension negative, or the size not within an array
   */
  public static long bytes(CutTensor tensor) {
    long bytes = elementBytes(tensor);
    for (long dimension : tensor.getShapeList()) {
      if (dimension < 0) {
        throw new InvalidInput(words(tensor) + " has a negative dimension: " + tensor.getShapeList());
      }
      if (dimension > 0 && bytes > Integer.MAX_VALUE / dimension) {
        throw new InvalidInput(words(tensor) + " of shape " + tensor.getShapeList() + " is larger than 2 GiB; "
            + "use smaller batches");
      }
      bytes *= dimension;
    }
    return bytes;
  }

  private static int elementBytes(CutTensor tensor) {
    return switch (tensor.getElement()) {
      case UINT8, INT8, BOOLEAN -> 1;
      case FLOAT16 -> 2;
      case FLOAT32, INT32 -> Float.BYTES;
      case FLOAT64, INT64 -> Double.BYTES;
      case UNRECOGNIZED -> throw new InvalidInput(words(tensor) + " has elements of type "
          + tensor.getElementValue() + ", which is unknown here; run the same version in all processes");
    };
  }

  private static String words(CutTensor tensor) {
    return tensor.getRole() + " '" + tensor.getName() + "'";
  }

  /** The frames of one message, each made when it is sent. Owned by the stream's loop. */
  private static final class Frames implements Iterator<Outgoing> {

    /**
     * The payload of one frame.
     *
     * @param tensor index of the one with the first byte
     * @param at offset of the first byte in that tensor
     * @param size bytes
     * @param alone true if all bytes are of that tensor
     */
    private record Chunk(int tensor, int at, int size, boolean alone) {}

    private final TensorMessage.Builder header;
    private final List<ByteBuffer> tensors;
    private final List<Chunk> chunks = new ArrayList<>();
    private final long total;
    private HeterFrame kind;
    private long offset;
    private int next;

    private Frames(TensorMessage.Builder header, HeterFrame kind, List<ByteBuffer> tensors, int chunkBytes) {
      this.header = header;
      this.kind = kind;
      this.tensors = tensors;
      total = tensors.stream().mapToLong(ByteBuffer::remaining).sum();
      plan(chunkBytes);
    }

    private void plan(int chunkBytes) {
      Chunk open = null;
      for (int t = 0; t < tensors.size(); t++) {
        int size = tensors.get(t).remaining();
        int at = 0;
        while (at < size) {
          int n = Math.min(size - at, open == null ? chunkBytes : chunkBytes - open.size);
          boolean run = Math.min(size - at, chunkBytes) >= MIN_RUN;
          if (open != null && (run || n == 0)) {
            chunks.add(open);
            open = null;
          } else if (run) {
            chunks.add(new Chunk(t, at, n, true));
            at += n;
          } else {
            open = open == null ? new Chunk(t, at, n, true) : new Chunk(open.tensor, open.at, open.size + n, false);
            at += n;
          }
        }
      }
      if (open != null || chunks.isEmpty()) {
        chunks.add(Objects.requireNonNullElse(open, new Chunk(0, 0, 0, true)));
      }
    }

    @Override
    public boolean hasNext() {
      return next < chunks.size();
    }

    @Override
    public Outgoing next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Chunk chunk = chunks.get(next);
      TensorMessage head = header.setChunkIndex(next).setChunkCount(chunks.size())
          .setHeter(kind.toBuilder().setOffset(offset).setTotal(total)).build();
      Outgoing out = frame(head, chunk);
      next++;
      offset += chunk.size;
      kind = HeterFrame.getDefaultInstance();
      return out;
    }

    private Outgoing frame(TensorMessage head, Chunk chunk) {
      if (chunk.size == 0) {
        return new Outgoing(TensorFrame.of(head), null);
      }
      ByteBuffer first = tensors.get(chunk.tensor);
      if (chunk.alone && chunk.size >= MIN_RUN) {
        return new Outgoing(new TensorFrame(head, first.slice(first.position() + chunk.at, chunk.size)), null);
      }
      ByteBuf memory = DirectMemory.ALLOCATOR.directBuffer(chunk.size, chunk.size);
      ByteBuffer payload = memory.nioBuffer(0, chunk.size);
      int at = chunk.at;
      for (int t = chunk.tensor; payload.hasRemaining(); t++) {
        ByteBuffer from = tensors.get(t);
        int n = Math.min(from.remaining() - at, payload.remaining());
        payload.put(from.slice(from.position() + at, n));
        at = 0;
      }
      return new Outgoing(new TensorFrame(head, payload.flip()), memory);
    }
  }
}
