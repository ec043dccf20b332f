package io.regatta.protocol.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.stream.request.PendingAnswer;
import io.regatta.protocol.stream.request.RequestLink;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.WorkerLoad;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A trainer's link to one heter worker over one tensor stream. Owned by the stream's loop: calls are made and complete
 * on it. When the stream dies, all pending calls fail with the reason, and then {@link #onLost} is notified.
 */
public final class HeterLink extends RequestLink {
  private final ByteBudget budget;
  /** Memory of each replica's last result. */
  private final Map<Integer, ByteBuffer> memories = new HashMap<>();
  private Consumer<WorkerLoad> loads = load -> { };
  private Consumer<RegattaException> lost = why -> { };

  /**
   * Takes the stream over.
   *
   * @param peer for messages, e.g. {@code heter worker 0 at 10.0.0.7:36010}
   * @param generation the job group's current generation, asked for with every request
   */
  public HeterLink(TensorStream stream, String peer, String job, TrainerId trainer, LongSupplier generation,
      StreamOptions options) {
    super(stream, peer, TensorMessage.newBuilder().setJob(job).setRank(trainer.rank())
        .setIncarnation(trainer.incarnation()).build(), generation, options);
    budget = new ByteBudget(options.maxRequestBytes());
    start();
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

  /** Says what crosses the cut; fails if the worker's network has another one. */
  public CompletionStage<CutOpened> open(CutOpen open) {
    HeterAnswer<CutOpened> answer = new HeterAnswer<>(KindCase.OPENED, h -> new HeterAssembly(h, budget, null), whole -> {
      CutOpened opened = whole.first().getHeter().getOpened();
      if (opened.hasLoad()) {
        loads.accept(opened.getLoad());
      }
      return opened;
    });
    return request(answer, to -> HeterCodec.one(to, HeterFrame.newBuilder().setOpen(open).build()));
  }

  /**
   * Computes a batch, whose memory must not change until the stage completes. The memory of the result is used again by
   * the replica's next call.
   */
  public CompletionStage<ComputedBatch> compute(BatchToCompute batch) {
    int replica = batch.id().replica();
    HeterAnswer<ComputedBatch> answer = new HeterAnswer<>(KindCase.RESULT,
        h -> new HeterAssembly(h, budget, memories.get(replica)), whole -> {
          memories.put(replica, whole.memory());
          ComputedBatch result = HeterCodec.result(whole);
          if (result.head().hasLoad()) {
            loads.accept(result.head().getLoad());
          }
          return result;
        });
    try {
      return request(answer, to -> HeterCodec.batch(to, batch, options().chunkBytes()));
    } catch (InvalidInput e) { // tensors that are not as described
      return CompletableFuture.failedStage(e);
    }
  }

  @Override
  protected String kind(TensorMessage header) {
    return header.hasHeter() ? header.getHeter().getKindCase().name() : header.getBodyCase().name();
  }

  @Override
  protected PendingAnswer<?> unasked(TensorMessage first) {
    return first.getRequest() != 0 || first.getHeter().getKindCase() != KindCase.LOAD ? null
        : new HeterAnswer<>(KindCase.LOAD, h -> new HeterAssembly(h, budget, null), whole -> {
          loads.accept(whole.first().getHeter().getLoad());
          return null;
        });
  }

  @Override
  protected void broken(RegattaException why) {
    if (!(why instanceof Cancelled)) {
      lost.accept(why);
    }
  }

  /**
   * Ends the stream. Pending calls fail with {@link Cancelled}.
   *
   * @param clean true if the trainer has reached its end and needs nothing more; with pending calls no end is clean
   */
  public CompletionStage<Void> close(boolean clean) {
    return end(clean);
  }
}
