package io.regatta.protocol.rank;

import io.netty.buffer.ByteBuf;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.schedule.Step;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.frame.Elements;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;

/**
 * Takes the messages of collective calls: elements go from the buffers in which they come straight to the tensor, copied
 * or reduced. Owned by its stream's loop.
 */
public final class CollectiveReceiver implements FrameReceiver {

  /** Who knows what is to come. Called on the stream's loop. */
  public interface Listener {

    /** The peer says for which generation the stream is. */
    void opened(CollectiveOpen by);

    /** The peer has given up. */
    void failed(CollectiveFailed why);

    /**
     * The elements of a step begin.
     *
     * @return where they go; of no use if it has dropped everything ({@link #drop}), because something else was to come
     */
    Target begin(CollectiveElements elements);

    /** What comes does not fit: who has an answer for the peer gives it, and drops everything. */
    default void refused(RegattaException why) {
      throw why;
    }

    /** All elements of that step are in. */
    void taken();
  }

  /** Where elements go, which have been prepared for it ({@link Tensor#begin}). */
  public record Target(Tensor tensor, Step step, ReduceOp op) {}

  private final Tensor.Workspace workspace;
  private Listener listener;
  private final Elements elements = new Elements();
  private TensorMessage told;
  private Target target;
  private int at;
  /** Elements are dropped. */
  private boolean deaf;
  /** So is what the peer tells. */
  private boolean dropping;

  /** @param workspace of the loop */
  public CollectiveReceiver(Listener listener, Tensor.Workspace workspace) {
    this.listener = listener;
    this.workspace = workspace;
  }

  /** From the next message on somebody else knows what is to come. */
  public void listener(Listener next) {
    listener = next;
  }

  /** From now on nothing is taken, in the middle of a message either: the tensor is its owner's again. */
  public void drop() {
    dropElements();
    dropping = true;
    told = null;
  }

  /** The same of elements only; what the peer tells is told. */
  public void dropElements() {
    deaf = true;
    target = null;
  }

  @Override
  public void begin(TensorMessage header, int payloadBytes) {
    if (!header.hasCollective()) {
      if (payloadBytes > 0 || !header.hasCollectiveOpen() && !header.hasCollectiveFailed()) {
        throw new InvalidInput("a message of kind " + header.getBodyCase() + " with " + payloadBytes
            + " bytes does not belong on a stream of collective calls");
      }
      told = dropping ? null : header;
      return;
    }
    if (deaf) {
      return;
    }
    CollectiveElements begun = header.getCollective();
    Target next = listener.begin(begun);
    if (deaf) {
      return;
    }
    target = next;
    Step step = target.step;
    at = step.from();
    if (begun.getOffset() != at || payloadBytes != (long) step.count() * target.tensor.wire().bytes()) {
      listener.refused(new InvalidInput(CollectiveFrames.words(begun.getCall()) + ": " + payloadBytes
          + " bytes from element " + begun.getOffset() + " came where " + step.count() + " elements from " + at
          + " were to come; all ranks must run the same version"));
    }
  }

  @Override
  public void payload(ByteBuf bytes) {
    if (deaf) {
      return;
    }
    elements.elements(bytes, target.tensor.wire().bytes(), this::take);
  }

  private void take(ByteBuffer whole) {
    int n = whole.remaining() / target.tensor.wire().bytes();
    if (target.step.kind() == Step.Kind.REDUCE) {
      target.tensor.reduce(target.op, at, whole, workspace);
    } else {
      target.tensor.copy(at, whole, workspace);
    }
    at += n;
  }

  @Override
  public void end() {
    if (told != null) {
      TensorMessage message = told;
      told = null;
      if (message.hasCollectiveOpen()) {
        listener.opened(message.getCollectiveOpen());
      } else {
        listener.failed(message.getCollectiveFailed());
      }
    } else if (!deaf) {
      listener.taken();
    }
  }
}
