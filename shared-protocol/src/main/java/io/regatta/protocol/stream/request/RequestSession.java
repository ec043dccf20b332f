package io.regatta.protocol.stream.request;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serving side of one trainer's tensor stream: it assembles requests from their chunks, has them served, and sends
 * the answers as fast as the peer takes them. Owned by the stream's loop.
 *
 * <p>Reading pauses while the number of requests in progress is at its limit, and while answers wait for room. So a
 * peer that sends but does not read is held back. An error ends the stream with a status that states the reason; other
 * streams are not affected. An expected error (a refusal, a lost peer behind this process) is logged as that status,
 * any other as a failure with its stack.
 *
 * @param <A> assembly of a request
 */
public abstract class RequestSession<A extends Assembly> implements FrameReceiver {

  private static final Logger LOG = LoggerFactory.getLogger(RequestSession.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);
  private static final PeerLog ENDS = PeerLog.ofEvents(LOG);

  private final TensorStream stream;
  private final StreamOptions options;
  private final FrameSender sender;
  private final Map<Long, A> incomplete = new HashMap<>();
  /** The request whose chunk is being read. */
  private A current;
  private int inProgress;
  private boolean held;
  private boolean peerEnded;
  private boolean over;

  /** Takes the stream over; {@link #start} begins to serve it. */
  protected RequestSession(TensorStream stream, StreamOptions options) {
    this.stream = stream;
    this.options = options;
    sender = new FrameSender(stream, this::fail);
  }

  /** Serves the stream until it ends. */
  protected final void start() {
    stream.exceptionHandler(e -> {
      LOG.debug("{} is over: {}", name(), e.getMessage());
      close(false);
    });
    stream.endHandler(v -> {
      peerEnded = true;
      endIfIdle();
    });
    stream.receiver(this);
  }

  /**
   * Refuses by its first chunk what cannot become a request.
   *
   * @throws RegattaException if it cannot; the stream ends with it
   */
  protected abstract void check(TensorMessage first);

  /** Begins a request that has been checked. */
  protected abstract A assembly(TensorMessage first);

  /** Serves a whole request. */
  protected abstract void dispatch(A request);

  /** Notes that {@link #dispatch} has failed, or the request was not whole. The stream ends next. */
  protected void notServed(A request) {}

  /** Returns true if nothing is to be read for a reason of this kind of session; see {@link #holdOrRead}. */
  protected boolean holds() {
    return false;
  }

  /** Returns the name of the stream in messages: {@code the stream of trainer 3 of job ctr}. */
  protected abstract String name();

  /** Returns advice on requests of which chunks are missing, for the message. */
  protected String adviceOnMissing() {
    return "send all chunks before the end";
  }

  /** Returns true if the end of the stream with this status is worth a line in the log. */
  protected boolean isLogged(RegattaException status) {
    return true;
  }

  /**
   * Notes the end of the stream; open requests need no answer any more.
   *
   * @param clean true if the peer has ended it, and has all answers
   */
  protected abstract void closed(boolean clean);

  /** Refuses a request of another trainer than the stream's. */
  protected static void checkSender(TensorMessage header, String kind, String job, TrainerId trainer) {
    if (!job.equals(header.getJob()) || !trainer.equals(trainer(header))) {
      throw new InvalidInput(kind + " of job '" + header.getJob() + "', " + trainer(header)
          + " came on the stream of job '" + job + "', " + trainer + "; open a stream for each trainer");
    }
  }

  /** Returns the sender of a request. */
  protected static TrainerId trainer(TensorMessage header) {
    return new TrainerId(header.getRank(), header.getIncarnation());
  }

  /** Returns the stream. */
  protected final TensorStream stream() {
    return stream;
  }

  /** Returns the options of the stream. */
  protected final StreamOptions options() {
    return options;
  }

  /** Returns true once the stream has ended. */
  protected final boolean isOver() {
    return over;
  }

  @Override
  public final void begin(TensorMessage h, int payloadBytes) {
    try {
      if (!over) {
        current = incomplete.get(h.getRequest());
        if (current == null) {
          current = first(h);
          incomplete.put(h.getRequest(), current);
        }
        current.begin(h, payloadBytes);
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      fail(e);
    }
  }

  private A first(TensorMessage h) {
    check(h);
    if (incomplete.size() >= options.maxRequests()) {
      throw new Overloaded(incomplete.size() + " requests are incomplete on " + name() + ", the limit of "
          + "stream.max_requests; send the chunks of one request together");
    }
    return assembly(h);
  }

  @Override
  public final void payload(ByteBuf bytes) {
    try {
      if (!over) {
        current.payload(bytes);
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      fail(e);
    }
  }

  @Override
  public final void end() {
    if (over) {
      return;
    }
    A request = current;
    current = null;
    try {
      if (request.end()) {
        incomplete.remove(request.first().getRequest());
        dispatch(request);
      }
    } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
      if (request != null) {
        notServed(request);
      }
      fail(e);
    }
    holdOrRead();
  }

  /** Answers a request, which counts as in progress until the stream has taken the last frame of the answer. */
  protected final <T> void serve(Future<T> result, Function<T, Iterator<Outgoing>> frames) {
    begun();
    result.onComplete(r -> {
      if (r.failed()) {
        fail(r.cause());
        return;
      }
      try {
        sender.send(frames.apply(r.result()), this::answered);
        holdOrRead();
      } catch (RuntimeException | Error e) { // whatever it is: the stream ends, and the peer knows
        fail(e);
      }
    });
  }

  /** Counts a request as in progress until its {@link #answer} has been sent. */
  protected final void begun() {
    inProgress++;
  }

  /** Sends the answer, or its last part, to a request in progress. */
  protected final void answer(Iterator<Outgoing> frames) {
    send(frames, this::answered);
  }

  private void answered() {
    inProgress--;
    holdOrRead();
    endIfIdle();
  }

  /** Sends frames; afterwards runs a task, unless the stream ends before. */
  protected final void send(Iterator<Outgoing> frames, Runnable sent) {
    sender.send(frames, sent);
    holdOrRead();
  }

  /** Pauses or resumes the reading. Called when {@link #holds} may have changed. */
  protected final void holdOrRead() {
    boolean hold = inProgress >= options.maxRequests() || sender.isBackedUp() || holds();
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

  /** Ends the stream after the peer's half-close, when it has the answers that it still waits for. */
  private void endIfIdle() {
    if (over || !peerEnded) {
      return;
    }
    if (!incomplete.isEmpty()) {
      fail(new InvalidInput(name() + " ended with " + incomplete.size() + " incomplete request"
          + (incomplete.size() == 1 ? "" : "s") + "; " + adviceOnMissing()));
    } else if (inProgress == 0) {
      stream.end();
      close(true);
    }
  }

  /** Ends the stream with a status that states the reason; what is in progress is not answered. */
  protected final void fail(Throwable cause) {
    if (over) {
      return;
    }
    RegattaException status = ErrorMapping.regatta(cause);
    if (status instanceof Indeterminate) {
      FAULTS.error(name() + " ends by a failure of this process", cause);
    } else if (isLogged(status)) {
      ENDS.info("{} ends: {}", name(), status.getMessage());
    }
    stream.fail(status);
    close(false);
  }

  private void close(boolean clean) {
    if (!over) {
      over = true;
      incomplete.values().forEach(Assembly::drop);
      incomplete.clear();
      sender.stop();
      closed(clean);
    }
  }
}
