package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseBlocks;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.shard.ShardStreamHandler.ExportCursor;
import io.regatta.protocol.shard.ShardStreamHandler.Origin;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.InitializeAck;
import io.regatta.protocol.tensor.LeaveAck;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.RegisterAck;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's side of one tensor stream: assembles requests from their chunks, calls a {@link ShardStreamHandler}, and
 * sends the answers as fast as the peer takes them. Owned by the stream's context.
 *
 * <p>Reading pauses during a registration, while the number of requests in progress is at its limit, and while answers
 * wait for room. So a peer that sends but does not read is held back. An error ends the stream with a status that
 * states the reason; other streams are not affected. An expected error (a refusal, a lost shard behind an aggregator)
 * is logged as that status, any other as a failure with its stack.
 */
public final class ShardStreamSession implements FrameReceiver {
  private static final Logger LOG = LoggerFactory.getLogger(ShardStreamSession.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);
  private static final PeerLog ENDS = PeerLog.ofEvents(LOG);

  private final TensorStream stream;
  private final ShardStreamHandler handler;
  private final StreamOptions options;
  private final FrameSender sender;
  private final ByteBudget budget;
  private final BlockPool blocks;
  private final Map<Long, Assembly> incomplete = new HashMap<>();
  /** Those that have not been answered. */
  private final Set<Assembly> pulls = new HashSet<>();
  /** The request whose chunk is being read. */
  private Assembly current;
  private Origin registered;
  private boolean registering;
  private int inProgress;
  private boolean held;
  private boolean peerEnded;
  private boolean over;

  /** Takes the stream over and serves it until it ends. */
  public static void serve(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    new ShardStreamSession(stream, handler, options).start();
  }

  private ShardStreamSession(TensorStream stream, ShardStreamHandler handler, StreamOptions options) {
    this.stream = stream;
    this.handler = handler;
    this.options = options;
    budget = new ByteBudget(options.maxRequestBytes());
    blocks = handler.blocks();
    sender = new FrameSender(stream, this::fail);
  }

  private void start() {
    stream.exceptionHandler(e -> {
      LOG.debug("tensor stream with {} is over: {}", stream.peer(), e.getMessage());
      close();
    });
    stream.endHandler(v -> {
      peerEnded = true;
      endIfIdle();
    });
    stream.receiver(this);
  }

  @Override
  public void begin(TensorMessage h, int payloadBytes) {
    try {
      if (!over) {
        current = incomplete.get(h.getRequest());
        if (current == null) {
          current = first(h);
        }
        current.begin(h, payloadBytes);
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  @Override
  public void payload(ByteBuf bytes) {
    try {
      if (!over) {
        current.payload(bytes);
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      fail(e);
    }
  }

  @Override
  public void end() {
    if (over) {
      return;
    }
    Assembly request = current;
    current = null;
    try {
      if (request.end()) {
        incomplete.remove(request.first().getRequest());
        dispatch(request);
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      if (request != null) {
        request.giveBackHeap();
      }
      fail(e);
    }
    holdOrRead();
  }

  /** Refuses by its first frame what cannot become a request. */
  private Assembly first(TensorMessage h) {
    if (registered == null && !h.hasRegister()) {
      throw new InvalidInput("the first message of a tensor stream must be REGISTER, but is " + h.getBodyCase());
    }
    if (registered != null && !(registered.job().equals(h.getJob()) && registered.trainer().equals(trainer(h)))) {
      throw new InvalidInput(h.getBodyCase() + " of job '" + h.getJob() + "', " + trainer(h) + " came on the stream of job '"
          + registered.job() + "', " + registered.trainer() + "; open a stream for each trainer");
    }
    if (incomplete.size() >= options.maxRequests()) {
      throw new Overloaded(incomplete.size() + " requests of " + registered + " are incomplete on one stream, the limit "
          + "of stream.max_requests; send the chunks of one request together");
    }
    boolean repeated = h.hasPush() && handler.isRepeated(origin(h), ShardCodec.known(h));
    Assembly request = repeated ? Assembly.discarding(h) : new Assembly(h, budget, HeapBudget.REQUESTS, this::beginDense);
    incomplete.put(h.getRequest(), request);
    return request;
  }

  private DenseSink beginDense(Assembly request, int total) {
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

  private static TrainerId trainer(TensorMessage h) {
    return new TrainerId(h.getRank(), h.getIncarnation());
  }

  /**
   * A push counts in the stream's budget until it is answered, for until then it is kept; what others hold is no part of theirs.
   * In the heap's a pull counts as long, but no longer than its stream, whose end withdraws it.
   */
  private void dispatch(Assembly a) {
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
          pulled -> ShardCodec.values(answer, pulled, options.chunkBytes(), HeapBudget.ANSWERS));
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
  private void answered(Assembly a) {
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

  /** Counts as in progress until the last frame of the answer has been taken by the stream. */
  private <T> void serve(Future<T> result, Function<T, Iterator<Outgoing>> frames) {
    inProgress++;
    result.onComplete(r -> {
      if (r.failed()) {
        fail(r.cause());
        return;
      }
      try {
        sender.send(frames.apply(r.result()), this::answered);
      } catch (RuntimeException | Error e) {
        fail(e);
      }
      holdOrRead();
    });
  }

  private void answered() {
    inProgress--;
    holdOrRead();
    endIfIdle();
  }

  private void export(TensorMessage header, String table, Future<ExportCursor> begun) {
    inProgress++;
    begun.onComplete(r -> {
      if (r.failed()) {
        fail(r.cause());
      } else {
        exportSlice(header, table, r.result());
      }
    });
  }

  /** Sends one slice, and the next one in a later turn when the stream has taken this one. */
  private void exportSlice(TensorMessage header, String table, ExportCursor cursor) {
    if (over) {
      return;
    }
    try {
      SparseRows slice = cursor.next();
      if (slice == null) {
        SparseRows none = new SparseRows(table, new long[0], new float[0]);
        sender.send(ShardCodec.exportSlice(header.toBuilder(), none, true, options.chunkBytes()),
            this::answered);
      } else {
        sender.send(ShardCodec.exportSlice(header.toBuilder(), slice, false, options.chunkBytes()),
            () -> stream.loop().defer(() -> exportSlice(header, table, cursor)));
      }
      holdOrRead();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void holdOrRead() {
    boolean hold = registering || inProgress >= options.maxRequests() || sender.isBackedUp();
    if (over || hold == held) {
      return;
    }
    held = hold;
    if (hold) {
      stream.pause();
    } else {
      stream.resume();
    }
  }

  /** The peer has half-closed: it gets the answers that it still waits for, then the end. */
  private void endIfIdle() {
    if (over || !peerEnded) {
      return;
    }
    if (!incomplete.isEmpty()) {
      fail(new InvalidInput("the stream of " + registered + " ended with " + incomplete.size()
          + " request(s) of which chunks are missing; of a push outside of sync mode, what came may have been applied: "
          + "repeat it under its old sequence"));
    } else if (inProgress == 0) {
      stream.end();
      close();
    }
  }

  private void fail(Throwable cause) {
    if (over) {
      return;
    }
    RegattaException status = ErrorMapping.regatta(cause);
    if (status instanceof Indeterminate) {
      FAULTS.error("tensor stream with " + stream.peer() + " ends by a failure of this server", cause);
    } else {
      ENDS.info("tensor stream with {} ends: {}", stream.peer(), status.getMessage());
    }
    stream.fail(status);
    close();
  }

  private void close() {
    if (!over) {
      over = true;
      incomplete.values().forEach(Assembly::drop);
      incomplete.values().forEach(Assembly::giveBackHeap);
      incomplete.clear();
      pulls.forEach(Assembly::giveBackHeap);
      pulls.clear();
      sender.stop();
      if (registered != null) {
        handler.closed(registered);
      }
    }
  }
}
