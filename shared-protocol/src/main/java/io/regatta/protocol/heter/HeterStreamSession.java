package io.regatta.protocol.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.heter.HeterHandler.Origin;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.stream.request.RequestMemory;
import io.regatta.protocol.stream.request.RequestSession;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * A heter worker's side of one trainer's stream: it calls a {@link HeterHandler}. Reading pauses also while a batch
 * waits for room in the worker's memory. The memory of a batch is used again when its future has completed. Owned by
 * the stream's loop.
 */
public final class HeterStreamSession extends RequestSession<HeterAssembly> {

  private final HeterHandler handler;
  private final ByteBudget budget;
  private final RequestMemory memory;
  private final ArrayDeque<ByteBuffer> memories = new ArrayDeque<>();
  /** Replicas of which a request to open has been answered. */
  private final Set<Integer> opened = new HashSet<>();
  /** The batch that waits for room; null: none does. */
  private HeterAssembly waiting;
  private Origin trainer;

  /** Takes the stream over and serves it until it ends. */
  public static HeterStreamSession serve(TensorStream stream, HeterHandler handler, StreamOptions options) {
    HeterStreamSession session = new HeterStreamSession(stream, handler, options);
    session.start();
    return session;
  }

  private HeterStreamSession(TensorStream stream, HeterHandler handler, StreamOptions options) {
    super(stream, options);
    this.handler = handler;
    budget = new ByteBudget(options.maxRequestBytes());
    memory = handler.memory();
  }

  /** Reports a load to the trainer, if it has opened the cut and the stream is not over. */
  public void tell(WorkerLoad load) {
    if (!isOver() && !opened.isEmpty()) {
      send(HeterCodec.one(TensorMessage.newBuilder().setJob(trainer.job()),
          HeterFrame.newBuilder().setLoad(load).build()), this::holdOrRead); // it may be the last that waits for room
    }
  }

  /** Ends the stream with a status that states the reason; what is in progress is not answered. */
  public void giveUp(RegattaException reason) {
    fail(reason);
  }

  @Override
  protected String name() {
    return "the stream of " + who();
  }

  private String who() {
    return trainer == null ? stream().peer() : "trainer " + trainer.trainer().rank() + " of job " + trainer.job();
  }

  @Override
  protected boolean isLogged(RegattaException status) {
    return !(status instanceof PeerLost); // this process shuts down, and has said so
  }

  @Override
  protected boolean holds() {
    return waiting != null;
  }

  @Override
  protected void check(TensorMessage h) {
    KindCase kind = h.getHeter().getKindCase();
    String words = h.hasHeter() ? kind.name() : h.getBodyCase().name();
    if (trainer == null && kind != KindCase.OPEN) {
      throw new InvalidInput("the first message to a heter worker must be OPEN, but is " + words);
    }
    if (kind != KindCase.OPEN && kind != KindCase.BATCH) {
      throw new InvalidInput(words + " is no request to a heter worker; send OPEN or BATCH");
    }
    if (trainer != null) {
      checkSender(h, words, trainer.job(), trainer.trainer());
    }
    if (kind == KindCase.BATCH && !opened.contains(h.getHeter().getBatch().getReplica())) {
      throw new InvalidInput("a batch of replica " + h.getHeter().getBatch().getReplica() + " of " + who()
          + " came before what crosses the cut was agreed; send OPEN and wait for its answer first");
    }
  }

  @Override
  protected HeterAssembly assembly(TensorMessage h) {
    if (h.getHeter().getKindCase() != KindCase.BATCH) {
      return new HeterAssembly(h, budget, null);
    }
    HeterAssembly batch = new HeterAssembly(h, budget, used(), memory);
    if (!batch.room().isGranted()) { // the chunk that has begun is the last one that is read for now
      waiting = batch;
      batch.room().granted().onSuccess(v -> {
        waiting = null;
        holdOrRead();
      });
      holdOrRead();
    }
    return batch;
  }

  @Override
  protected void dispatch(HeterAssembly request) {
    TensorMessage h = request.first();
    Origin from = new Origin(h.getJob(), h.getGeneration(), trainer(h));
    TensorMessage.Builder answer = TensorMessage.newBuilder().setJob(h.getJob()).setRank(h.getRank())
        .setIncarnation(h.getIncarnation()).setRequest(h.getRequest());
    if (request.kindCase() == KindCase.OPEN) {
      trainer = from;
      request.giveBack();
      serve(handler.open(from, h.getHeter().getOpen()), made -> {
        opened.add(h.getHeter().getOpen().getReplica());
        return HeterCodec.one(answer, HeterFrame.newBuilder().setOpened(made).build());
      });
      return;
    }
    Future<ComputedBatch> computed = request.room().granted().compose(v -> handler.compute(from, HeterCodec.batch(request)));
    serve(computed.onComplete(done -> {
      request.giveBack();
      request.giveBackRoom();
      keep(request.memory());
    }), result -> HeterCodec.result(answer, result, options().chunkBytes()));
  }

  /** Returns memory of an earlier batch; null: there is none. */
  private ByteBuffer used() {
    ByteBuffer used = memories.poll();
    if (used != null) {
      memory.keptNoMore(used.capacity());
    }
    return used;
  }

  /** Keeps memory for a later batch: one for each replica, which has one batch under way. */
  private void keep(ByteBuffer used) {
    if (!isOver() && memories.size() < opened.size() && memory.keep(used.capacity())) {
      memories.add(used);
    }
  }

  @Override
  protected void closed(boolean clean) {
    if (waiting != null) {
      waiting.giveBackRoom();
      waiting = null;
    }
    while (used() != null) {
      // released
    }
    if (trainer != null) {
      handler.closed(trainer, clean);
    }
  }
}
