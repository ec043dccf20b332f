package io.regatta.protocol.shard;

import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.request.RequestLink;
import io.regatta.protocol.tensor.Export;
import io.regatta.protocol.tensor.Leave;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.Shrink;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * A trainer's (or an aggregator's) link to one shard over one tensor stream. Owned by the stream's context: calls are
 * made and complete on it. The wait for an answer has no limit as long as the peer lives. When the stream dies, all
 * pending calls fail with the reason, which names the peer. A push that was under way may have been applied; it is
 * repeated with the same sequence number on a new link, see {@link ReopeningShardLink}.
 */
public final class GrpcShardLink extends RequestLink implements ShardLink {
  private final Function<String, Future<Long>> digest;
  private UnaryOperator<String> lost;
  private String job = "";
  private boolean reset;

  /**
   * Takes the stream over.
   *
   * @param peer for messages, e.g. {@code shard 0 at 10.0.0.7:36001}
   * @param shard global index of the shard
   * @param shardIncarnation of the shard, from the shard map; a restarted shard refuses messages for its former life
   * @param generation the job group's current generation, asked for with every request
   * @param digest asks the shard for a job's digest over its control connection
   */
  public GrpcShardLink(TensorStream stream, String peer, int shard, long shardIncarnation, LongSupplier generation,
      Function<String, Future<Long>> digest, StreamOptions options) {
    super(stream, peer, TensorMessage.newBuilder().setShard(shard).setShardIncarnation(shardIncarnation).setChunkCount(1).build(),
        generation, options);
    this.digest = digest;
    lost = why -> peer + " is lost: " + why;
    start();
  }

  /** Says the loss of the peer otherwise: from its cause to the whole message. Called before the first request. */
  public GrpcShardLink sayLost(UnaryOperator<String> message) {
    lost = message;
    return this;
  }

  @Override
  protected String kind(TensorMessage header) {
    return header.getBodyCase().name();
  }

  @Override
  protected String ended() {
    return peer() + " has ended the stream; it is shutting down";
  }

  @Override
  protected String lost(String why) {
    return lost.apply(why);
  }

  @Override
  protected void breaks(RegattaException e) {
    reset = e instanceof PeerLost && e.getCause() != null && !(e.getCause() instanceof TimeoutException);
  }

  /**
   * Whether the connection broke under the stream: no status has come from the peer, nor has it been silent for long.
   * The peer may be as well as ever.
   */
  boolean wasReset() {
    return reset;
  }

  private <T> ShardAnswer<T> answer(BodyCase kind, Function<ShardAssembly, T> result) {
    return new ShardAnswer<>(kind, options(), result, null);
  }

  @Override
  public CompletionStage<Long> register(JobSpec spec, TrainerId trainer, long step) {
    from(spec.job(), trainer);
    return request(answer(BodyCase.REGISTER_ACK, a -> a.first().getRegisterAck().getStep()),
        r -> Outgoing.one(r.setRegister(Register.newBuilder().setStep(step).setTrainer(JobSpecs.toProto(spec))).build()));
  }

  /** Resumes over this link as a trainer that has registered over an earlier one; see {@link ReopeningShardLink}. */
  CompletionStage<Void> registerAgain(String ofJob, TrainerId trainer) {
    from(ofJob, trainer);
    return request(answer(BodyCase.REGISTER_ACK, a -> null),
        r -> Outgoing.one(r.setRegister(Register.newBuilder().setAgain(true)).build()));
  }

  private void from(String ofJob, TrainerId trainer) {
    job = ofJob;
    header(next -> next.setJob(job).setRank(trainer.rank()).setIncarnation(trainer.incarnation()));
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return request(answer(BodyCase.INITIALIZE_ACK, a -> null),
        r -> ShardCodec.initialize(r, dense, options().chunkBytes()));
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    return request(answer(BodyCase.PUSH_ACK, a -> ShardCodec.ack(a.first())),
        r -> ShardCodec.push(r, push, options().chunkBytes()));
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    ShardAnswer<Pulled> answer = answer(BodyCase.PULL_VALUES, ShardCodec::values);
    return request(pull.into() == null ? answer : answer.into((a, total) -> into(pull.into(), total)),
        r -> ShardCodec.pull(r, pull, options().chunkBytes()));
  }

  private static DenseSink into(DenseSlice wanted, int total) {
    if (total != wanted.size()) {
      throw new InvalidInput(total + " dense elements instead of " + wanted.size()
          + ": run the same version in all processes");
    }
    return wanted.sink();
  }

  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return request(answer(BodyCase.SHRINK_ACK, a -> ShardCodec.shrunk(a.first())),
        r -> Outgoing.one(r.setShrink(Shrink.newBuilder().setNumber(number).setEndOfDay(endOfDay)).build()));
  }

  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return request(answer(BodyCase.LEAVE_ACK, a -> null),
        r -> Outgoing.one(r.setLeave(Leave.newBuilder().setSucceeded(succeeded)).build()));
  }

  @Override
  public CompletionStage<Long> digest() {
    return digest.apply(job).toCompletionStage();
  }

  /** The sink is called on the stream's context; while it holds a slice nothing is read from the stream. */
  @Override
  public CompletionStage<Void> export(String table, RowSink sink) {
    return request(new ShardAnswer<>(BodyCase.EXPORT_ROWS, options(), a -> null, a -> slices(a.rows(), sink)),
        r -> Outgoing.one(r.setExport(Export.newBuilder().setTable(table)).build()));
  }

  private static CompletableFuture<Void> slices(List<SparseRows> rows, RowSink sink) {
    CompletableFuture<Void> taken = CompletableFuture.completedFuture(null);
    for (SparseRows slice : rows) {
      taken = slice.ids().length == 0 ? taken : taken.thenCompose(v -> sink.take(slice));
    }
    return taken;
  }

  @Override
  public CompletionStage<Void> handedOver() {
    return released().toCompletionStage();
  }

  /** Half-closes if nothing is pending; otherwise gives up what is, which fails with {@link Cancelled}. */
  @Override
  public CompletionStage<Void> close() {
    return end(true);
  }
}
