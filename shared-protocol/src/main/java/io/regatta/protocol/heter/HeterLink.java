package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.shard.ByteBudget;
import io.regatta.protocol.shard.FrameSender;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * A trainer's link to one heter worker over one tensor stream. Owned by the stream's loop: calls are made and complete
 * on it. Answers come in any order. The wait for one has no limit as long as the peer lives. When the stream dies, all
 * pending calls fail with the reason, which names the peer, and then {@link #onLost} is notified.
 */
public final class HeterLink {
  private final TensorStream stream;
  private final String peer;
  private final LongSupplier generation;
  private final StreamOptions options;
  private final FrameSender sender;
  private final ByteBudget budget;
  private final TensorMessage header;
  private final Map<Long, Pending<?>> pending = new HashMap<>();
  /** Memory of each replica's last result. */
  private final Map<Integer, ByteBuffer> memories = new HashMap<>();
  private Consumer<WorkerLoad> loads = load -> { };
  private Consumer<RegattaException> lost = why -> { };
  private long requests;
  private RegattaException broken;

  /** A request without an answer. */
  private record Pending<T>(KindCase answer, int replica, Promise<T> promise, Function<HeterAssembly, T> result) {

    void complete(HeterAssembly whole) {
      promise.tryComplete(result.apply(whole));
    }
  }

  /**
   * Takes the stream over.
   *
   * @param peer for messages, e.g. {@code heter worker 0 at 10.0.0.7:36010}
   * @param generation the job group's current generation, asked for with every request
   */
  public HeterLink(TensorStream stream, String peer, String job, TrainerId trainer, LongSupplier generation,
      StreamOptions options) {
    this.stream = stream;
    this.peer = peer;
    this.generation = generation;
    this.options = options;
    budget = new ByteBudget(options.maxRequestBytes());
    header = TensorMessage.newBuilder().setJob(job).setRank(trainer.rank()).setIncarnation(trainer.incarnation())
        .build();
    sender = new FrameSender(stream, this::giveUp);
    stream.exceptionHandler(this::breakAll);
    stream.endHandler(v -> breakAll(new PeerLost("it has ended the stream and is shutting down")));
    stream.receiver(new Receiver());
  }

  /** Sets the receiver of the loads that the worker reports. Called before the first request. */
  public HeterLink onLoad(Consumer<WorkerLoad> notified) {
    loads = notified;
    return this;
  }

  /** Sets the receiver of the reason for which the link is broken; not called after {@link #close}. */
  public HeterLink onLost(Consumer<RegattaException> notified) {
    lost = notified;
    return this;
  }

  /** Returns the name of the peer in messages. */
  public String peer() {
    return peer;
  }

  /** Says what crosses the cut; fails if the worker's network has another one. */
  public CompletionStage<CutOpened> open(CutOpen open) {
    return request(new Pending<>(KindCase.OPENED, open.getReplica(), Promise.promise(),
        whole -> whole.first().getHeter().getOpened()),
        to -> HeterCodec.one(to, HeterFrame.newBuilder().setOpen(open).build()));
  }

  /**
   * Computes a batch, whose memory must not change until the stage completes. The memory of the result is used again by
   * the replica's next call.
   */
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    return request(new Pending<>(KindCase.RESULT, batch.id().replica(), Promise.promise(), HeterCodec::result),
        to -> HeterCodec.batch(to, batch, options.chunkBytes()));
  }

  private <T> CompletionStage<T> request(Pending<T> call, Function<TensorMessage.Builder, Iterator<Outgoing>> frames) {
    if (broken != null) {
      call.promise.fail(broken);
    } else if (pending.size() >= options.maxRequests()) {
      call.promise.fail(new Overloaded(pending.size() + " requests to " + peer + " are unanswered, the limit of "
          + "stream.max_requests; wait for an answer first"));
    } else {
      long request = ++requests;
      Iterator<Outgoing> message;
      try {
        message = frames.apply(header.toBuilder().setRequest(request).setGeneration(generation.getAsLong()));
      } catch (InvalidInput e) { // tensors that are not as described
        call.promise.fail(e);
        return call.promise.future().toCompletionStage();
      }
      pending.put(request, call);
      sender.send(message, () -> { });
    }
    return call.promise.future().toCompletionStage();
  }

  /** Takes answers and loads; after the link is broken nothing. */
  private final class Receiver implements FrameReceiver {
    private final Map<Long, HeterAssembly> incomplete = new HashMap<>();
    private long request;
    private HeterAssembly current;

    @Override
    public void begin(TensorMessage h, int payloadBytes) {
      guarded(() -> {
        request = h.getRequest();
        current = incomplete.get(request);
        if (current == null) {
          current = first(h);
          incomplete.put(request, current);
        }
        current.begin(h, payloadBytes);
      });
    }

    private HeterAssembly first(TensorMessage h) {
      KindCase kind = h.getHeter().getKindCase();
      if (request == 0 && kind == KindCase.LOAD) {
        return new HeterAssembly(h, budget, null);
      }
      Pending<?> call = pending.get(request);
      if (call == null || call.answer != kind) {
        throw new InvalidInput(kind + " for request " + request + ", which "
            + (call == null ? "is not open" : "is to be answered by " + call.answer));
      }
      return new HeterAssembly(h, budget, kind == KindCase.RESULT ? memories.get(call.replica) : null);
    }

    @Override
    public void payload(ByteBuf bytes) {
      guarded(() -> current.payload(bytes));
    }

    @Override
    public void end() {
      guarded(() -> {
        if (current.end()) {
          incomplete.remove(request);
          current.giveBack();
          answered(request, current);
        }
      });
    }

    private void guarded(Runnable step) {
      if (broken != null) {
        return;
      }
      try {
        step.run();
      } catch (InvalidInput e) {
        giveUp(new InvalidInput(peer + " sent a bad answer: " + e.getMessage()));
      } catch (RuntimeException | Error e) { // whatever it is: model threads wait for the answer
        giveUp(new Indeterminate("an answer of " + peer + " could not be read here: " + e, e));
      }
    }
  }

  private void answered(long request, HeterAssembly whole) {
    HeterFrame kind = whole.first().getHeter();
    if (whole.kind() == KindCase.LOAD) {
      loads.accept(kind.getLoad());
      return;
    }
    if (kind.getOpened().hasLoad()) {
      loads.accept(kind.getOpened().getLoad());
    } else if (kind.getResult().hasLoad()) {
      loads.accept(kind.getResult().getLoad());
    }
    Pending<?> call = pending.remove(request);
    if (whole.kind() == KindCase.RESULT) {
      memories.put(call.replica, whole.memory());
    }
    call.complete(whole);
  }

  /** Gives the stream up from this side. */
  private void giveUp(RegattaException reason) {
    stream.fail(reason);
    breakAll(reason);
  }

  private void breakAll(RegattaException e) {
    if (broken != null) {
      return;
    }
    broken = e instanceof PeerLost ? new PeerLost(peer + " is lost: " + e.getMessage(), e) : e;
    sender.stop();
    List<Pending<?>> open = List.copyOf(pending.values());
    pending.clear();
    sender.handedOver().onComplete(v -> { // until then borrowed memory may still be read
      open.forEach(call -> call.promise.tryFail(broken));
      if (!(broken instanceof Cancelled)) {
        lost.accept(broken);
      }
    });
  }

  /**
   * Ends the stream. Pending calls fail with {@link Cancelled}.
   *
   * @param clean true if the trainer has reached its end and needs nothing more; with pending calls no end is clean
   */
  public CompletionStage<Void> close(boolean clean) {
    if (broken != null) {
      return Future.<Void>succeededFuture().toCompletionStage();
    }
    Cancelled closed = new Cancelled("the link to " + peer + " was closed");
    Future<Void> ended = clean && pending.isEmpty() ? stream.end() : stream.fail(closed);
    breakAll(closed);
    return ended.otherwiseEmpty().toCompletionStage();
  }
}
