package io.regatta.protocol;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.PushAck;
import io.regatta.core.shard.ShardLink;
import io.regatta.core.shard.SparseRows;
import io.regatta.core.shard.TrainerId;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A trainer's (or an aggregator's) link to one shard over one tensor stream. Owned by the stream's context: calls are
 * made and complete on it. When the stream dies, everything pending fails with the reason, which names the peer;
 * whether a push that was under way has been applied is then told by repeating it with the same sequence on a new link.
 */
public final class GrpcShardLink implements ShardLink {
  private final TensorStream stream;
  private final String peer;
  private final LongSupplier generation;
  private final Supplier<Future<Long>> digest;
  private final StreamOptions options;
  private final FrameSender sender;
  private final TensorMessage.Builder common;
  private final Map<Long, Pending<?>> pending = new HashMap<>();
  private String job = "";
  private long requests;
  private RegattaException broken;

  private final class Pending<T> {
    final Kind answer;
    final Promise<T> promise = Promise.promise();
    final Function<Assembly, T> whole;
    /** For exports: every assembled slice; true when it was the last. */
    final Consumer<Assembly> slice;
    Assembly assembly;

    Pending(Kind answer, Function<Assembly, T> whole, Consumer<Assembly> slice) {
      this.answer = answer;
      this.whole = whole;
      this.slice = slice;
    }

    /** Takes one frame of the answer; true when the answer is complete. */
    boolean take(TensorFrame frame) {
      if (assembly == null) {
        assembly = new Assembly(frame.header(), options.maxRequestBytes());
      }
      if (!assembly.add(frame)) {
        return false;
      }
      Assembly done = assembly;
      assembly = null;
      if (slice != null) {
        slice.accept(done);
        if (!done.first().getLast()) {
          return false;
        }
      }
      promise.complete(whole.apply(done));
      return true;
    }
  }

  /**
   * Takes the stream over.
   *
   * @param peer for messages, e.g. {@code shard 0 at 10.0.0.7:36001}
   * @param shard global index of the shard
   * @param shardIncarnation of the shard, from the shard map; a restarted shard refuses messages for its former life
   * @param generation the job group's current generation
   * @param digest asks the shard for a job's digest over its control connection
   */
  public GrpcShardLink(TensorStream stream, String peer, int shard, long shardIncarnation, LongSupplier generation,
      Function<String, Future<Long>> digest, StreamOptions options) {
    this.stream = stream;
    this.peer = peer;
    this.generation = generation;
    this.digest = () -> digest.apply(job);
    this.options = options;
    common = TensorMessage.newBuilder().setShard(shard).setShardIncarnation(shardIncarnation);
    sender = new FrameSender(stream, this::breakAll);
    stream.exceptionHandler(this::breakAll);
    stream.endHandler(v -> breakAll(new PeerLost(peer + " ended the stream")));
    stream.handler(this::received);
  }

  private void received(TensorFrame frame) {
    TensorMessage h = frame.header();
    Pending<?> p = pending.get(h.getRequest());
    if (p == null || p.answer != h.getKind()) {
      breakStream(new InvalidInput(peer + " sent " + h.getKind() + " for request " + h.getRequest() + ", which "
          + (p == null ? "is not open" : "expects " + p.answer)));
      return;
    }
    try {
      if (p.take(frame)) {
        pending.remove(h.getRequest());
      }
    } catch (InvalidInput e) {
      breakStream(new InvalidInput(peer + " sent a bad answer: " + e.getMessage()));
    }
  }

  private void breakStream(RegattaException e) {
    stream.fail(e);
    breakAll(e);
  }

  private void breakAll(RegattaException e) {
    if (broken != null) {
      return;
    }
    broken = e;
    List<Pending<?>> open = List.copyOf(pending.values());
    pending.clear();
    open.forEach(p -> p.promise.tryFail(e));
  }

  private <T> CompletionStage<T> request(Kind answer, Function<Assembly, T> whole, Consumer<Assembly> slice,
      Function<Long, Iterator<TensorFrame>> frames) {
    if (broken != null) {
      return Future.<T>failedFuture(broken).toCompletionStage();
    }
    Pending<T> p = new Pending<>(answer, whole, slice);
    long request = ++requests;
    pending.put(request, p);
    common.setGeneration(generation.getAsLong());
    sender.send(frames.apply(request));
    return p.promise.future().toCompletionStage();
  }

  private TensorFrame frame(Kind kind, long request) {
    return TensorFrame.of(common.clone().setKind(kind).setRequest(request).setChunkCount(1).build());
  }

  @Override
  public CompletionStage<Void> register(JobSpec spec, TrainerId trainer) {
    job = spec.job();
    common.setJob(job).setRank(trainer.rank()).setIncarnation(trainer.incarnation());
    return request(Kind.REGISTER_ACK, a -> null, null, r -> List.of(TensorFrame.of(common.clone().setKind(Kind.REGISTER)
        .setRequest(r).setChunkCount(1).setRegister(JobSpecs.toProto(spec)).build())).iterator());
  }

  @Override
  public CompletionStage<Void> initialize(float[] dense) {
    return request(Kind.INITIALIZE_ACK, a -> null, null,
        r -> ShardCodec.initialize(common, r, dense, options.chunkBytes()));
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    return request(Kind.PUSH_ACK, a -> ShardCodec.ack(a.first()), null,
        r -> ShardCodec.push(common, r, push, options.chunkBytes()));
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    return request(Kind.PULL_VALUES, ShardCodec::values, null,
        r -> ShardCodec.pull(common, r, pull, options.chunkBytes()));
  }

  @Override
  public CompletionStage<Void> leave() {
    return request(Kind.LEAVE_ACK, a -> null, null, r -> List.of(frame(Kind.LEAVE, r)).iterator());
  }

  @Override
  public CompletionStage<Long> digest() {
    return digest.get().toCompletionStage();
  }

  @Override
  public CompletionStage<Void> export(String table, Consumer<SparseRows> slice) {
    return request(Kind.EXPORT_ROWS, a -> null, a -> a.rows().forEach(slice),
        r -> List.of(TensorFrame.of(common.clone().setKind(Kind.EXPORT).setRequest(r).setChunkCount(1)
            .setTable(table).build())).iterator());
  }

  @Override
  public CompletionStage<Void> close() {
    Future<Void> ended = stream.end();
    breakAll(new RegattaException.Cancelled("the link to " + peer + " was closed"));
    return ended.otherwiseEmpty().toCompletionStage();
  }
}
