package io.regatta.protocol.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseBlocks;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.shard.ShardStreamHandler.ExportCursor;
import io.regatta.protocol.shard.ShardStreamHandler.Origin;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.stream.request.RequestSession;
import io.regatta.protocol.tensor.InitializeAck;
import io.regatta.protocol.tensor.LeaveAck;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.RegisterAck;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Set;

/**
 * A shard's side of one trainer's tensor stream, as of everything that serves the requests of a shard: it calls a {@link
 * ShardStreamHandler}. Reading pauses also during a registration. Owned by the stream's context.
 */
public final class ShardStreamSession extends RequestSession<ShardAssembly> {
  private final ShardStreamHandler handler;
  private final ByteBudget budget;
  private final BlockPool blocks;
  /** Those that have not been answered. */
  private final Set<ShardAssembly> pulls = new HashSet<>();
  private Origin registered;
  private boolean registering;

  /** Takes the stream over and serves it until it ends. */
  public static void serve(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    new ShardStreamSession(stream, handler, options).start();
  }

  private ShardStreamSession(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    super(stream, options);
    this.handler = handler;
    budget = new ByteBudget(options.maxRequestBytes());
    blocks = handler.blocks();
  }

  @Override
  protected String name() {
    return registered == null ? "the tensor stream with " + stream().peer()
        : "the stream of trainer " + registered.trainer().rank() + " of job " + registered.job();
  }

  @Override
  protected String adviceOnMissing() {
    return "of a push outside of sync mode, what came may have been applied: repeat it under its old sequence";
  }

  @Override
  protected boolean holds() {
    return registering;
  }

  @Override
  protected void check(TensorMessage h) {
    if (registered == null && !h.hasRegister()) {
      throw new InvalidInput("the first message of a tensor stream must be REGISTER, but is " + h.getBodyCase());
    }
    if (registered != null) {
      checkSender(h, h.getBodyCase().name(), registered.job(), registered.trainer());
    }
  }

  @Override
  protected ShardAssembly assembly(TensorMessage h) {
    boolean repeated = h.hasPush() && handler.isRepeated(origin(h), ShardCodec.known(h));
    return repeated ? ShardAssembly.discarding(h) : new ShardAssembly(h, budget, HeapBudget.REQUESTS, this::beginDense);
  }

  private DenseSink beginDense(ShardAssembly request, int total) {
    DenseSink taker = request.first().hasPush()
        ? handler.begin(origin(request.first()), ShardCodec.known(request), total) : null;
    if (taker != null) {
      return taker;
    }
    request.keep((long) total * Float.BYTES);
    return new DenseBlocks(total, blocks, request.first().getPush().getFinite());
  }

  private static Origin origin(TensorMessage h) {
    return new Origin(h.getJob(), h.getShard(), h.getShardIncarnation(), h.getGeneration(), trainer(h));
  }

  @Override
  protected void notServed(ShardAssembly request) {
    request.giveBackHeap();
  }

  /**
   * Serves a request. A push counts in the stream's budget until it is answered, because it is kept until then. In the
   * heap's budget a pull counts as long, but no longer than its stream, whose end withdraws it.
   */
  @Override
  protected void dispatch(ShardAssembly a) {
    TensorMessage h = a.first();
    if (!h.hasPush()) {
      a.giveBack();
    }
    if (h.hasPull()) {
      pulls.add(a);
    } else if (!h.hasPush()) {
      a.giveBackHeap();
    }
    Origin from = origin(h);
    TensorMessage.Builder answer = TensorMessage.newBuilder().setJob(h.getJob()).setShard(h.getShard())
        .setShardIncarnation(h.getShardIncarnation()).setRank(h.getRank()).setIncarnation(h.getIncarnation())
        .setRequest(h.getRequest()).setChunkCount(1);
    switch (h.getBodyCase()) {
      case REGISTER -> register(from, h, answer);
      case INITIALIZE -> serve(handler.initialize(from, a.dense() == null ? DenseMemory.of(new float[0]) : a.dense()),
          v -> Outgoing.one(answer.setInitializeAck(InitializeAck.getDefaultInstance()).build()));
      case PUSH -> serve(handler.push(from, ShardCodec.push(a)).onComplete(done -> answered(a)),
          ack -> ShardCodec.ack(answer, ack));
      case PULL -> serve(handler.pull(from, ShardCodec.pull(a)).onComplete(done -> answered(a)),
          pulled -> ShardCodec.values(answer, pulled, options().chunkBytes(), HeapBudget.ANSWERS));
      case SHRINK -> serve(handler.shrink(from, h.getShrink().getNumber(), h.getShrink().getEndOfDay()),
          shrunk -> ShardCodec.shrunk(answer, shrunk));
      case LEAVE -> serve(handler.leave(from, h.getLeave().getSucceeded()),
          v -> Outgoing.one(answer.setLeaveAck(LeaveAck.getDefaultInstance()).build()));
      case EXPORT -> export(answer.build(), h.getExport().getTable(), handler.export(from, h.getExport().getTable()));
      default -> throw new InvalidInput(h.getBodyCase() + " is not a request; send REGISTER, INITIALIZE, PUSH, PULL, SHRINK, EXPORT "
          + "or LEAVE");
    }
  }

  /** Releases an answered push or pull, whose arrays are no longer in use. */
  private void answered(ShardAssembly a) {
    if (!pulls.remove(a)) {
      a.giveBack();
    }
    a.giveBackHeap();
  }

  private void register(Origin from, TensorMessage h, TensorMessage.Builder answer) {
    Register register = h.getRegister();
    if (!register.hasTrainer() && !register.getAgain()) {
      throw new InvalidInput("REGISTER of job '" + h.getJob() + "', rank " + h.getRank() + " comes without `trainer` or `again`");
    }
    JobSpec job = register.getAgain() ? null : JobSpecs.ofProto(h.getJob(), register.getTrainer());
    registered = from;
    registering = true;
    Future<Long> answered = job == null ? handler.registerAgain(from).map(register.getStep())
        : handler.register(from, job, register.getStep());
    serve(answered, step -> {
      registering = false;
      return Outgoing.one(answer.setRegisterAck(RegisterAck.newBuilder().setStep(step)).build());
    });
  }

  private void export(TensorMessage header, String table, Future<ExportCursor> cursor) {
    begun();
    cursor.onComplete(r -> {
      if (r.failed()) {
        fail(r.cause());
      } else {
        exportSlice(header, table, r.result());
      }
    });
  }

  /** Sends one slice, and the next one in a later turn when the stream has taken this one. */
  private void exportSlice(TensorMessage header, String table, ExportCursor cursor) {
    if (isOver()) {
      return;
    }
    try {
      SparseRows slice = cursor.next();
      if (slice == null) {
        SparseRows none = new SparseRows(table, new long[0], new float[0]);
        answer(ShardCodec.exportSlice(header.toBuilder(), none, true, options().chunkBytes()));
      } else {
        send(ShardCodec.exportSlice(header.toBuilder(), slice, false, options().chunkBytes()),
            () -> stream().loop().defer(() -> exportSlice(header, table, cursor)));
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      fail(e);
    }
  }

  @Override
  protected void closed(boolean clean) {
    pulls.forEach(ShardAssembly::giveBackHeap);
    pulls.clear();
    if (registered != null) {
      handler.closed(registered);
    }
  }
}
