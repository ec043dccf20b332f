package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseBlocks;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.stream.request.PendingAnswer;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** One request of a {@link GrpcShardLink} that waits for its answer. Owned by the stream's loop. */
final class ShardAnswer<T> extends PendingAnswer<T> {
  private final BodyCase kind;
  private final StreamOptions options;
  private final Function<ShardAssembly, T> result;
  private final Function<ShardAssembly, CompletableFuture<Void>> slice;
  private CompletableFuture<Void> taken = CompletableFuture.completedFuture(null);
  private ShardAssembly.DenseTaker dense = (answer, total) -> new DenseBlocks(total, new BlockPool(), true);
  private ShardAssembly assembly;

  /**
   * Creates the answer of a request that has just been made.
   *
   * @param result makes the result from the answer, the last one if there are several
   * @param slice null for a request with one answer; otherwise takes each of several, up to the one marked last
   */
  ShardAnswer(BodyCase kind, StreamOptions options, Function<ShardAssembly, T> result,
      Function<ShardAssembly, CompletableFuture<Void>> slice) {
    this.kind = kind;
    this.options = options;
    this.result = result;
    this.slice = slice;
  }

  /** Has the dense vector of the answer written somewhere else than into memory of its own. */
  ShardAnswer<T> into(ShardAssembly.DenseTaker taker) {
    dense = taker;
    return this;
  }

  @Override
  protected String kind() {
    return kind.name();
  }

  @Override
  protected boolean isAnsweredBy(TensorMessage header) {
    return kind == header.getBodyCase();
  }

  @Override
  protected void begin(TensorMessage header, int payloadBytes) {
    if (assembly == null || slice != null && assembly.isComplete()) {
      assembly = new ShardAssembly(header, new ByteBudget(options.maxRequestBytes()), dense);
    }
    assembly.begin(header, payloadBytes);
  }

  @Override
  protected void payload(ByteBuf bytes) {
    assembly.payload(bytes);
  }

  @Override
  protected boolean end() {
    if (!assembly.end()) {
      return false;
    }
    if (slice == null) {
      return true;
    }
    consume();
    return assembly.first().getExportRows().getLast();
  }

  /** Returns a future that completes when the last slice has been taken. Until then the stream is to be held. */
  @Override
  protected CompletableFuture<Void> taken() {
    return taken;
  }

  /** Passes a slice on. After a failure no further slice is passed; the rest of the answer is read and dropped. */
  private void consume() {
    if (!future().isComplete()) {
      try {
        taken = slice.apply(assembly).handle((v, e) -> {
          if (e != null) {
            fail(e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
          }
          return null;
        });
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    }
  }

  @Override
  protected void complete() {
    T made = result.apply(assembly);
    taken.thenRun(() -> complete(made));
  }
}
