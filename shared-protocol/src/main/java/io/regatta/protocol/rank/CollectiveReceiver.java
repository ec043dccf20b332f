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
 * The receiver of the messages of collective calls. Elements are copied or reduced straight from the buffers in which
 * they arrive into the tensor. Owned by its stream's loop.
 */
public final class CollectiveReceiver implements FrameReceiver {

  /** The listener that knows which messages are expected. Called on the stream's loop. */
  public interface Listener {

    /** Notes the generation for which the peer opened the stream. */
    void opened(CollectiveOpen by);

    /** Notes that the peer has given up. */
    void failed(CollectiveFailed why);

    /**
     * Begins the elements of a step.
     *
     * @return their target; not used if the listener has dropped everything ({@link #drop}), because it expected other
     *     elements
     */
    Target begin(CollectiveElements elements);

    /** Refuses a message that does not fit. A listener that can answer the peer does so, and drops everything. */
    default void refused(RegattaException why) {
      throw why;
    }

    /** Notes that all elements of that step have arrived. */
    void taken();
  }

  /** The target of a step's elements, prepared by {@link Tensor#begin}. */
  public record Target(Tensor tensor, Step step, ReduceOp op) {}

  private final Tensor.Workspace workspace;
  private Listener listener;
  private final Elements elements = new Elements();
  private TensorMessage told;
  private Target target;
  private int at;
  /** True if elements are dropped. */
  private boolean deaf;
  /** True if all other messages of the peer are dropped, too. */
  private boolean dropping;

  /** @param workspace of the loop */
  public CollectiveReceiver(Listener listener, Tensor.Workspace workspace) {
    this.listener = listener;
    this.workspace = workspace;
  }

  /** Sets the listener from the next message on. */
  public void listener(Listener next) {
    listener = next;
  }

  /** Drops all messages from now on, also the rest of a message: the tensor belongs to its owner again. */
  public void drop() {
    dropElements();
    dropping = true;
    told = null;
  }

  /** Drops only elements from now on; the listener still gets all other messages. */
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
