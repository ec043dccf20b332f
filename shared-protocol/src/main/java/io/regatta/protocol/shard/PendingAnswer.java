package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseBlocks;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** One request of a {@link GrpcShardLink} that waits for its answer. Owned by the stream's loop. */
final class PendingAnswer<T> {
  private final BodyCase kind;
  private final StreamOptions options;
  private final Function<Assembly, T> result;
  private final Function<Assembly, CompletableFuture<Void>> slice;
  private final Promise<T> promise = Promise.promise();
  private CompletableFuture<Void> taken = CompletableFuture.completedFuture(null);
  private Assembly.DenseTaker dense = (answer, total) -> new DenseBlocks(total, new BlockPool(), true);
  private Assembly assembly;

  /**
   * A request just made.
   *
   * @param result makes the result from the answer, the last one if there are several
   * @param slice null for a request with one answer; otherwise takes each of several, up to the one marked last
   */
  PendingAnswer(BodyCase kind, StreamOptions options, Function<Assembly, T> result,
      Function<Assembly, CompletableFuture<Void>> slice) {
    this.kind = kind;
    this.options = options;
    this.result = result;
    this.slice = slice;
  }

  /** Has the dense vector of the answer written somewhere else than into memory of its own. */
  PendingAnswer<T> into(Assembly.DenseTaker taker) {
    dense = taker;
    return this;
  }

  /** The kind of message that answers. */
  BodyCase kind() {
    return kind;
  }

  Future<T> future() {
    return promise.future();
  }

  /** A frame of the answer begins. */
  void begin(TensorMessage header, int payloadBytes) {
    if (assembly == null || slice != null && assembly.isComplete()) {
      assembly = new Assembly(header, new ByteBudget(options.maxRequestBytes()), dense);
    }
    assembly.begin(header, payloadBytes);
  }

  /** The next bytes of the frame's payload. */
  void payload(ByteBuf bytes) {
    assembly.payload(bytes);
  }

  /** The frame ends; true when the answer is complete. */
  boolean end() {
    if (!assembly.end()) {
      return false;
    }
    if (slice == null) {
      return true;
    }
    consume();
    return assembly.first().getExportRows().getLast();
  }

  /** Completes when the last slice has been taken; never fails. Until then the stream is to be held. */
  CompletableFuture<Void> taken() {
    return taken;
  }

  /** Passes a slice on. After a failure no further slice is passed; the rest of the answer is read and dropped. */
  private void consume() {
    if (!promise.future().isComplete()) {
      try {
        taken = slice.apply(assembly).handle((v, e) -> {
          if (e != null) {
            promise.tryFail(e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
          }
          return null;
        });
      } catch (RuntimeException | Error e) {
        promise.tryFail(e);
      }
    }
  }

  /** All of the answer has come. Throws what keeps the result from being made; somebody still waits then. */
  void complete() {
    T made = result.apply(assembly);
    taken.thenRun(() -> promise.tryComplete(made));
  }

  void fail(Throwable cause) {
    promise.tryFail(cause);
  }
}
