package io.regatta.protocol.stream.request;

import io.netty.buffer.ByteBuf;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The asking side of one tensor stream. Owned by the stream's loop: calls are made and complete on it. Answers come in
 * any order. The wait for one has no limit as long as the peer lives. When the stream dies, all pending calls fail with
 * the reason, which names the peer.
 */
public abstract class RequestLink {

  private final TensorStream stream;
  private final String peer;
  private final LongSupplier generation;
  private final StreamOptions options;
  private final FrameSender sender;
  private final Map<Long, PendingAnswer<?>> pending = new HashMap<>();
  /** The header of the next request, but for its number. */
  private TensorMessage header;
  private long requests;
  private int holds;
  private RegattaException broken;

  /**
   * Takes the stream over; {@link #start} begins to read it.
   *
   * @param peer for messages, e.g. {@code shard 0 at 10.0.0.7:36001}
   * @param header of the first request
   * @param generation the job group's current generation, asked for with every request
   */
  protected RequestLink(TensorStream stream, String peer, TensorMessage header, LongSupplier generation,
      StreamOptions options) {
    this.stream = stream;
    this.peer = peer;
    this.header = header;
    this.generation = generation;
    this.options = options;
    sender = new FrameSender(stream, this::giveUp);
  }

  /** Reads answers from now on. */
  protected final void start() {
    stream.exceptionHandler(this::breakAll);
    stream.endHandler(v -> breakAll(new PeerLost(ended())));
    stream.receiver(new Receiver());
  }

  /** Returns the kind of a message, for messages: {@code PUSH_ACK}. */
  protected abstract String kind(TensorMessage header);

  /** Returns the cause of a loss: the peer has ended the stream in order. */
  protected String ended() {
    return "it has ended the stream and is shutting down";
  }

  /** Returns the message of a loss from its cause. */
  protected String lost(String why) {
    return peer + " is lost: " + why;
  }

  /** Returns the taker of a message that answers no request; null: there are none. */
  protected PendingAnswer<?> unasked(TensorMessage first) {
    return null;
  }

  /** Notes the error by which the stream breaks, before pending calls fail. */
  protected void breaks(RegattaException why) {}

  /** Notes that all pending calls have failed with this reason. */
  protected void broken(RegattaException why) {}

  /** Returns the name of the peer in messages. */
  public String peer() {
    return peer;
  }

  /** Returns true as long as the link is neither broken nor closed. */
  public final boolean isUsable() {
    return broken == null;
  }

  /** Returns true if another request may be made now; the next answer makes room. */
  public final boolean hasRoom() {
    return broken == null && pending.size() < options.maxRequests();
  }

  /** Returns the options of the stream. */
  protected final StreamOptions options() {
    return options;
  }

  /** Changes the header of later requests. */
  protected final void header(Consumer<TensorMessage.Builder> change) {
    TensorMessage.Builder next = header.toBuilder();
    change.accept(next);
    header = next.build();
  }

  /**
   * Makes a request.
   *
   * @param frames makes its frames from their header
   * @return fails with {@link Overloaded} if there is no room, see {@link #hasRoom}
   */
  protected final <T> CompletionStage<T> request(PendingAnswer<T> answer,
      Function<TensorMessage.Builder, Iterator<Outgoing>> frames) {
    if (broken != null) {
      answer.fail(broken);
    } else if (pending.size() >= options.maxRequests()) {
      answer.fail(new Overloaded(pending.size() + " requests to " + peer + " are unanswered, the limit of "
          + "stream.max_requests; wait for an answer first"));
    } else {
      long request = ++requests;
      long now = generation.getAsLong();
      if (now != header.getGeneration()) {
        header = header.toBuilder().setGeneration(now).build();
      }
      Iterator<Outgoing> message = frames.apply(header.toBuilder().setRequest(request));
      pending.put(request, answer);
      sender.send(message, () -> { });
    }
    return answer.future().toCompletionStage();
  }

  /** Hands the frames of answers to the requests that they answer; after the link is broken nothing. */
  private final class Receiver implements FrameReceiver {
    private final Map<Long, PendingAnswer<?>> unasked = new HashMap<>();
    private PendingAnswer<?> answer;
    private long request;

    @Override
    public void begin(TensorMessage h, int payloadBytes) {
      guarded(() -> {
        request = h.getRequest();
        answer = pending.getOrDefault(request, unasked.get(request));
        if (answer == null) {
          answer = unasked(h);
          if (answer != null) {
            unasked.put(request, answer);
          }
        }
        if (answer == null || !answer.isAnsweredBy(h)) {
          throw new InvalidInput("a " + kind(h) + " for request " + request + ", which "
              + (answer == null ? "is not open" : "is to be answered by " + answer.kind()));
        }
        answer.begin(h, payloadBytes);
      });
    }

    @Override
    public void payload(ByteBuf bytes) {
      guarded(() -> answer.payload(bytes));
    }

    @Override
    public void end() {
      guarded(() -> {
        boolean complete = answer.end();
        hold(answer.taken());
        if (complete) {
          complete(request, answer);
        }
      });
    }

    private void complete(long of, PendingAnswer<?> whole) {
      unasked.remove(of);
      boolean asked = pending.remove(of) != null; // first: its place is free for what the caller asks next
      try {
        whole.complete();
      } catch (RuntimeException | Error e) { // a failure to make the answer is answered, too, with all that is pending
        if (asked) {
          pending.put(of, whole);
        }
        throw e;
      }
    }

    private void guarded(Runnable part) {
      if (broken != null) {
        return;
      }
      try {
        part.run();
      } catch (InvalidInput e) {
        giveUp(new InvalidInput(peer + " sent a bad answer: " + e.getMessage()));
      } catch (RuntimeException | Error e) { // whatever it is: callers wait for the answer
        giveUp(new Indeterminate("an answer of " + peer + " could not be read here: " + e, e));
      }
    }
  }

  /** Reads nothing until then; several answers may hold the stream. */
  private void hold(CompletableFuture<Void> taken) {
    if (!taken.isDone()) {
      if (holds++ == 0) {
        stream.pause();
      }
      taken.thenRun(() -> {
        if (--holds == 0) {
          stream.resume();
        }
      });
    }
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
    breaks(e);
    broken = e instanceof PeerLost ? new PeerLost(lost(e.getMessage()), e) : e;
    sender.stop();
    List<PendingAnswer<?>> open = List.copyOf(pending.values());
    pending.clear();
    sender.handedOver().onComplete(v -> { // until then borrowed memory may still be read
      open.forEach(answer -> answer.fail(broken));
      broken(broken);
    });
  }

  /** Completes when the stream has released all borrowed memory of requests. */
  protected final Future<Void> released() {
    return sender.handedOver();
  }

  /**
   * Ends the stream. Pending calls fail with {@link Cancelled}.
   *
   * @param clean true to half-close; with pending calls no end is clean
   */
  protected final CompletionStage<Void> end(boolean clean) {
    Cancelled closed = new Cancelled("the link to " + peer + " was closed");
    Future<Void> ended = clean && pending.isEmpty() ? stream.end() : stream.fail(closed);
    breakAll(closed);
    return ended.otherwiseEmpty().toCompletionStage();
  }
}
