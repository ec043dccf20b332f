package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.heter.HeterHandler.Origin;
import io.regatta.protocol.shard.ByteBudget;
import io.regatta.protocol.shard.FrameSender;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.HeterFrame;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A heter worker's side of one trainer's stream: assembles requests from their chunks, calls a {@link HeterHandler},
 * and sends the answers as fast as the peer takes them. Owned by the stream's loop.
 *
 * <p>Reading pauses while the number of requests in progress is at its limit, and while answers wait for room. An error
 * ends the stream with a status that states the reason; other streams are not affected. The memory of a batch is used
 * again when its future has completed.
 */
public final class HeterStreamSession implements FrameReceiver {
  private static final Logger LOG = LoggerFactory.getLogger(HeterStreamSession.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);
  private static final PeerLog ENDS = PeerLog.ofEvents(LOG);

  private final TensorStream stream;
  private final HeterHandler handler;
  private final StreamOptions options;
  private final FrameSender sender;
  private final ByteBudget budget;
  private final Map<Long, HeterAssembly> incomplete = new HashMap<>();
  private final ArrayDeque<ByteBuffer> memories = new ArrayDeque<>();
  /** Replicas of which a request to open has been answered. */
  private final Set<Integer> opened = new HashSet<>();
  /** The request whose chunk is being read. */
  private HeterAssembly current;
  private Origin trainer;
  private int inProgress;
  private boolean held;
  private boolean peerEnded;
  private boolean over;

  /** Takes the stream over and serves it until it ends. */
  public static HeterStreamSession serve(TensorStream stream, HeterHandler handler, StreamOptions options) {
    HeterStreamSession session = new HeterStreamSession(stream, handler, options);
    session.start();
    return session;
  }

  private HeterStreamSession(TensorStream stream, HeterHandler handler, StreamOptions options) {
    this.stream = stream;
    this.handler = handler;
    this.options = options;
    budget = new ByteBudget(options.maxRequestBytes());
    sender = new FrameSender(stream, this::fail);
  }

  private void start() {
    stream.exceptionHandler(e -> {
      LOG.debug("the stream of {} is over: {}", who(), e.getMessage());
      close(false);
    });
    stream.endHandler(v -> {
      peerEnded = true;
      endIfIdle();
    });
    stream.receiver(this);
  }

  /** Reports a load to the trainer, if it has opened the cut and the stream is not over. */
  public void tell(WorkerLoad load) {
    if (!over && !opened.isEmpty()) {
      sender.send(HeterCodec.one(TensorMessage.newBuilder().setJob(trainer.job()),
          HeterFrame.newBuilder().setLoad(load).build()), this::holdOrRead); // it may be the last that waits for room
      holdOrRead();
    }
  }

  /** Ends the stream with a status that states the reason; what is in progress is not answered. */
  public void giveUp(RegattaException reason) {
    fail(reason);
  }

  private String who() {
    return trainer == null ? stream.peer() : "trainer " + trainer.trainer().rank() + " of job " + trainer.job();
  }

  @Override
  public void begin(TensorMessage h, int payloadBytes) {
    guarded(() -> {
      current = incomplete.get(h.getRequest());
      if (current == null) {
        current = first(h);
        incomplete.put(h.getRequest(), current);
      }
      current.begin(h, payloadBytes);
    });
  }

  @Override
  public void payload(ByteBuf bytes) {
    guarded(() -> current.payload(bytes));
  }

  @Override
  public void end() {
    guarded(() -> {
      HeterAssembly request = current;
      current = null;
      if (request.end()) {
        incomplete.remove(request.first().getRequest());
        dispatch(request);
      }
    });
    holdOrRead();
  }

  private void guarded(Runnable step) {
    if (over) {
      return;
    }
    try {
      step.run();
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      fail(e);
    }
  }

  /** Refuses by its first chunk what cannot become a request. */
  private HeterAssembly first(TensorMessage h) {
    KindCase kind = h.getHeter().getKindCase();
    if (trainer == null && kind != KindCase.OPEN) {
      throw new InvalidInput("the first message to a heter worker must be OPEN, but is "
          + (h.hasHeter() ? kind : h.getBodyCase()));
    }
    if (kind != KindCase.OPEN && kind != KindCase.BATCH) {
      throw new InvalidInput((h.hasHeter() ? kind : h.getBodyCase())
          + " is no request to a heter worker; send OPEN or BATCH");
    }
    if (trainer != null && !(trainer.job().equals(h.getJob()) && trainer.trainer().equals(HeterCodec.trainer(h)))) {
      throw new InvalidInput(kind + " of job '" + h.getJob() + "', " + HeterCodec.trainer(h) + " came on the stream of "
          + trainer + "; open a stream for each trainer");
    }
    if (kind == KindCase.BATCH && !opened.contains(h.getHeter().getBatch().getReplica())) {
      throw new InvalidInput("a batch of replica " + h.getHeter().getBatch().getReplica() + " of " + who()
          + " came before what crosses the cut was agreed; send OPEN and wait for its answer first");
    }
    if (incomplete.size() >= options.maxRequests()) {
      throw new Overloaded(incomplete.size() + " requests of " + who() + " are incomplete on one stream, the limit of "
          + "stream.max_requests; send the chunks of one request together");
    }
    return new HeterAssembly(h, budget, kind == KindCase.BATCH ? memories.poll() : null);
  }

  private void dispatch(HeterAssembly request) {
    TensorMessage h = request.first();
    Origin from = new Origin(h.getJob(), h.getGeneration(), HeterCodec.trainer(h));
    TensorMessage.Builder answer = TensorMessage.newBuilder().setJob(h.getJob()).setRank(h.getRank())
        .setIncarnation(h.getIncarnation()).setRequest(h.getRequest());
    if (request.kind() == KindCase.OPEN) {
      trainer = from;
      request.giveBack();
      serve(handler.open(from, h.getHeter().getOpen()), made -> {
        opened.add(h.getHeter().getOpen().getReplica());
        return HeterCodec.one(answer, HeterFrame.newBuilder().setOpened(made).build());
      });
    } else {
      serve(handler.compute(from, HeterCodec.batch(request)).onComplete(done -> {
        request.giveBack();
        memories.add(request.memory());
      }), result -> HeterCodec.result(answer, result, options.chunkBytes()));
    }
  }

  /** Counts as in progress until the last frame of the answer has been taken by the stream. */
  private <T> void serve(Future<T> result, Function<T, Iterator<Outgoing>> frames) {
    inProgress++;
    result.onComplete(r -> {
      if (over) {
        return;
      }
      if (r.failed()) {
        fail(r.cause());
        return;
      }
      guarded(() -> sender.send(frames.apply(r.result()), this::answered));
      holdOrRead();
    });
  }

  private void answered() {
    inProgress--;
    holdOrRead();
    endIfIdle();
  }

  private void holdOrRead() {
    boolean hold = inProgress >= options.maxRequests() || sender.isBackedUp();
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
      fail(new InvalidInput("the stream of " + who() + " ended with " + incomplete.size()
          + " incomplete request" + (incomplete.size() == 1 ? "" : "s") + "; send all chunks before the end"));
    } else if (inProgress == 0) {
      stream.end();
      close(true);
    }
  }

  private void fail(Throwable cause) {
    if (over) {
      return;
    }
    RegattaException status = ErrorMapping.regatta(cause);
    if (status instanceof Indeterminate) {
      FAULTS.error("the stream of " + who() + " ends by a failure of this heter worker", cause);
    } else if (!(status instanceof PeerLost)) { // whoever shuts down has said so
      ENDS.info("the stream of {} ends: {}", who(), status.getMessage());
    }
    stream.fail(status);
    close(false);
  }

  private void close(boolean clean) {
    if (!over) {
      over = true;
      incomplete.clear();
      memories.clear();
      sender.stop();
      if (trainer != null) {
        handler.closed(trainer, clean);
      }
    }
  }
}
