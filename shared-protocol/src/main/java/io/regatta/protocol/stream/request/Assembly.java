package io.regatta.protocol.stream.request;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.tensor.TensorMessage;

/**
 * The assembly of one request or answer from its chunks, none of which is trusted. The order and number of chunks are
 * checked here; offsets, sizes and announced totals are checked by the kind of message. Memory grows with the bytes
 * that have arrived, not with those that are announced. Owned by the loop of its stream.
 */
public abstract class Assembly {

  private final TensorMessage first;
  private final ByteBudget budget;
  private final int count;
  private int chunks;
  /** Bytes taken from the budget. */
  private long taken;

  /**
   * Begins a message.
   *
   * @param first the header of its first chunk, which is to be added like all others
   * @param budget of its stream
   */
  protected Assembly(TensorMessage first, ByteBudget budget) {
    this.first = first;
    this.budget = budget;
    count = Math.max(1, first.getChunkCount());
  }

  /** Returns the first chunk's header, with the fields that only it has. */
  public final TensorMessage first() {
    return first;
  }

  /** Returns true once all chunks have come. */
  public final boolean isComplete() {
    return chunks == count;
  }

  /**
   * Begins the next chunk.
   *
   * @param payloadBytes announced size of its payload
   * @throws InvalidInput if it does not fit
   */
  public final void begin(TensorMessage header, int payloadBytes) {
    if (header.getChunkIndex() != chunks || Math.max(1, header.getChunkCount()) != count
        || !isContinuedBy(header, chunks)) {
      throw wrong(header, "chunk " + chunks + " of " + count + " of a " + kind() + " was expected");
    }
    beginSlice(header, payloadBytes);
  }

  /** Takes the next bytes of the chunk's payload, cut anywhere; all of them are read. */
  public abstract void payload(ByteBuf bytes);

  /**
   * Ends the chunk.
   *
   * @return true if it was the last one
   * @throws InvalidInput if something is missing
   */
  public final boolean end() {
    if (++chunks < count) {
      return false;
    }
    checkWhole();
    return true;
  }

  /** Releases what has arrived of a message that will not be whole. */
  public void drop() {}

  /** Returns the bytes of the budget that this message has taken. May be repeated. */
  public final void giveBack() {
    budget.giveBack(taken);
    taken = 0;
  }

  /** Takes this number of bytes of the budget, or none and returns false. */
  protected final boolean take(long bytes) {
    if (!budget.take(bytes)) {
      return false;
    }
    taken += bytes;
    return true;
  }

  /** Returns the limit of the budget. */
  protected final long limit() {
    return budget.limit();
  }

  /** Returns true if a header with the right chunk index belongs to this kind of message. */
  protected abstract boolean isContinuedBy(TensorMessage header, int index);

  /**
   * Checks what a chunk says about its payload, and prepares for that.
   *
   * @throws InvalidInput if it does not fit
   */
  protected abstract void beginSlice(TensorMessage header, int payloadBytes);

  /**
   * Checks that nothing is missing.
   *
   * @throws InvalidInput if something is
   */
  protected abstract void checkWhole();

  /** Returns the kind of message: {@code PUSH}. */
  protected abstract String kind();

  /** Returns the message in words: {@code PUSH of job 'ctr', rank 1, step 418}. */
  protected String words() {
    return kind() + " of job '" + first.getJob() + "', rank " + first.getRank();
  }

  /** Returns the place of a chunk within the message for {@link #wrong}: {@code , table 'emb'}; empty if it has none. */
  protected String place(TensorMessage header) {
    return "";
  }

  /** Returns an error that names the message and the chunk. */
  protected final InvalidInput wrong(TensorMessage header, String problem) {
    return new InvalidInput(words() + place(header) + ", chunk " + header.getChunkIndex() + " of " + header.getChunkCount() + ": "
        + problem);
  }
}
