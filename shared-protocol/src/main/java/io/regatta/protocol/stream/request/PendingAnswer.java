package io.regatta.protocol.stream.request;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.CompletableFuture;

/**
 * One request of a {@link RequestLink} that waits for its answer. Owned by the stream's loop.
 *
 * @param <T> result
 */
public abstract class PendingAnswer<T> {

  private static final CompletableFuture<Void> TAKEN = CompletableFuture.completedFuture(null);

  private final Promise<T> promise = Promise.promise();

  /** Returns the kind of message that answers: {@code PUSH_ACK}. */
  protected abstract String kind();

  /** Returns true if a message is of the kind that answers. */
  protected abstract boolean isAnsweredBy(TensorMessage header);

  /** Begins a frame of the answer. */
  protected abstract void begin(TensorMessage header, int payloadBytes);

  /** Takes the next bytes of the frame's payload. */
  protected abstract void payload(ByteBuf bytes);

  /** Ends the frame; returns true when the answer is complete. */
  protected abstract boolean end();

  /** Returns a future that completes when this link may read on; it never fails. */
  protected CompletableFuture<Void> taken() {
    return TAKEN;
  }

  /** Makes the result of a complete answer. If that throws, somebody still waits. */
  protected abstract void complete();

  /** Returns the future of the result. */
  public final Future<T> future() {
    return promise.future();
  }

  /** Completes the future, unless it is complete. */
  protected final void complete(T result) {
    promise.tryComplete(result);
  }

  /** Fails the future, unless it is complete. */
  public final void fail(Throwable cause) {
    promise.tryFail(cause);
  }
}
