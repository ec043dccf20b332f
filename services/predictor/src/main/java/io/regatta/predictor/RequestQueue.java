package io.regatta.predictor;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.RequestExamples;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The requests that wait for a model, in the order of their arrival. Requests that wait together are computed as one
 * batch, as far as {@link BatchingLimits} allow. Any thread adds and cancels requests. The loop of the model alone
 * takes them, parses them, computes and answers.
 *
 * <p>A request is answered once: with its own scores, or with its own error. A request whose future is cancelled while
 * it waits leaves the queue at once. The lock guards what waits, and is never held during a computation or an answer.
 */
final class RequestQueue {

  private static final long NANOS_PER_MILLI = 1_000_000;
  /** Most bytes of the examples of a batch of several requests. */
  private static final long BATCH_BYTES_MAX = 16L << 20;

  /** The next task of the loop for this queue. */
  private enum Next {
    /** There is none: nothing waits. */
    NONE,
    /** One runs when the first request has waited for the longest delay. */
    DELAYED,
    /** One runs as soon as the loop is free. */
    SOON
  }

  private static final class Waiting {
    private final RequestExamples examples;
    private final int rows;
    private final long bytes;
    private final long sinceNanos;
    private final CompletableFuture<Prediction> answer = new CompletableFuture<>();

    Waiting(RequestExamples examples, long sinceNanos) {
      this.examples = examples;
      this.rows = examples.rows();
      this.bytes = examples.bytes();
      this.sinceNanos = sinceNanos;
    }
  }

  /** The rows of one request in a batch. */
  private record Part(Waiting request, int from, int rows) {}

  private final Loop loop;
  private final Clock clock;
  private final BatchingLimits limits;
  private final int maxBatch;
  private final Layout layout;
  private final Function<SlotBatch, Prediction> model;
  private final Supplier<String> whose;

  private final Object lock = new Object();
  private final Set<Waiting> waiting = new LinkedHashSet<>();
  private long rows;
  private long bytes;
  private Next next = Next.NONE;
  /** The timer of {@link Next#DELAYED}. */
  private Timer timer = Timer.NONE;
  private boolean closed;

  /** The rows of a batch of several requests; used on the loop, which reuses it. */
  private SlotBatch room;

  /**
   * Creates an empty queue.
   *
   * @param model computes a batch, on the loop; an empty one has no scores
   * @param whose name of the model in messages
   */
  RequestQueue(Loop loop, BatchingLimits limits, Layout layout, Function<SlotBatch, Prediction> model,
      Supplier<String> whose) {
    this.loop = loop;
    this.clock = loop.clock();
    this.limits = limits;
    this.layout = layout;
    this.model = model;
    this.whose = whose;
    maxBatch = (int) Math.max(1, Math.min(limits.maxBatch(), BATCH_BYTES_MAX / SlotBatch.bytes(layout)));
  }

  /**
   * Adds a request. Its future completes on the loop; cancelling it withdraws the request if it still waits.
   *
   * @return failed with {@code Overloaded} if too much waits, with {@code Cancelled} after {@link #close}
   */
  CompletableFuture<Prediction> add(RequestExamples examples) {
    Waiting added = new Waiting(examples, clock.nanos());
    synchronized (lock) {
      if (closed) {
        return CompletableFuture.failedFuture(new Cancelled(whose.get() + " has been closed"));
      }
      if (!waiting.isEmpty() && (rows + added.rows > limits.maxWaiting() || bytes
          + added.bytes > limits.maxWaitingBytes())) {
        return CompletableFuture.failedFuture(new Overloaded(rows + " examples of " + waiting.size()
            + (waiting.size() == 1 ? " request" : " requests") + " wait for "
            + whose.get() + "; try again later, or start more predictors"));
      }
      waiting.add(added);
      rows += added.rows;
      bytes += added.bytes;
      if (next == Next.NONE || next == Next.DELAYED && rows >= maxBatch) {
        try {
          serveSoon();
        } catch (RejectedExecutionException e) {
          remove(added);
          return CompletableFuture.failedFuture(new Cancelled(whose.get() + " has been closed"));
        }
      }
    }
    added.answer.whenComplete((answer, error) -> withdraw(added));
    return added.answer;
  }

  /** Returns the examples that wait. Any thread. */
  long waitingExamples() {
    synchronized (lock) {
      return rows;
    }
  }

  private void serveSoon() {
    timer.cancel();
    loop.execute(this::serve);
    next = Next.SOON;
  }

  private void withdraw(Waiting request) {
    synchronized (lock) {
      remove(request);
    }
  }

  private void remove(Waiting request) {
    if (waiting.remove(request)) {
      rows -= request.rows;
      bytes -= request.bytes;
    }
  }

  private void serve() {
    compute(take());
  }

  /**
   * Takes the requests of the next batch; none if nothing waits, or what waits is to be delayed. Sees to the next task
   * of the loop.
   */
  private List<Waiting> take() {
    synchronized (lock) {
      next = Next.NONE;
      if (waiting.isEmpty()) {
        return List.of();
      }
      long left = limits.maxDelayMillis() * NANOS_PER_MILLI - (clock.nanos() - waiting.iterator().next().sinceNanos);
      if (left > 0 && rows < maxBatch && !closed) {
        next = Next.DELAYED;
        timer.cancel();
        timer = loop.after((left + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI, this::delayed);
        return List.of();
      }
      List<Waiting> taken = new ArrayList<>();
      int examples = 0;
      for (Iterator<Waiting> all = waiting.iterator(); all.hasNext(); ) {
        Waiting request = all.next();
        if (!taken.isEmpty() && examples + request.rows > maxBatch) {
          break;
        }
        examples += request.rows;
        taken.add(request);
      }
      taken.forEach(this::remove);
      if (!waiting.isEmpty() && !closed) {
        serveSoon(); // after other tasks of the loop, such as newer rows
      }
      return taken;
    }
  }

  /** Serves after a delay, unless a full batch has been served meanwhile. */
  private void delayed() {
    boolean due;
    synchronized (lock) {
      due = next == Next.DELAYED;
    }
    if (due) {
      serve();
    }
  }

  /** Computes and answers requests; whatever happens, each of them is answered. */
  private void compute(List<Waiting> taken) {
    try {
      batch(taken);
    } catch (RuntimeException | Error e) { // no memory, for example
      taken.forEach(request -> request.answer.completeExceptionally(e));
    }
  }

  private void batch(List<Waiting> taken) {
    if (taken.size() == 1 && taken.get(0).examples.parsed() != null) {
      alone(taken.get(0), taken.get(0).examples.parsed());
      return;
    }
    SlotBatch batch = taken.isEmpty() ? null : room(taken.stream().mapToInt(request -> request.rows).sum());
    List<Part> parts = new ArrayList<>(taken.size());
    int at = 0;
    for (Waiting request : taken) {
      try {
        int read = request.examples.read(batch, at);
        if (read > request.rows) {
          throw new IllegalStateException("a request has " + read + " examples, but had announced " + request.rows);
        }
        parts.add(new Part(request, at, read));
        at += read;
      } catch (RuntimeException | Error e) {
        request.answer.completeExceptionally(e);
      }
    }
    if (parts.size() == 1) {
      alone(parts.get(0).request, batch.first(at));
    } else if (!parts.isEmpty()) {
      together(parts, batch.first(at));
    }
  }

  private void alone(Waiting request, SlotBatch examples) {
    Prediction prediction;
    try {
      prediction = model.apply(examples);
    } catch (RuntimeException | Error e) {
      request.answer.completeExceptionally(e);
      return;
    }
    request.answer.complete(prediction);
  }

  /** Computes several requests as one batch; each on its own if that fails, because one of them may be the cause. */
  private void together(List<Part> parts, SlotBatch batch) {
    Prediction all;
    try {
      all = model.apply(batch);
    } catch (RuntimeException | Error e) {
      parts.forEach(part -> alone(part.request, copy(batch, part)));
      return;
    }
    int outputs = all.outputs();
    for (Part part : parts) {
      part.request.answer.complete(new Prediction(
          Arrays.copyOfRange(all.scores(), part.from * outputs, (part.from + part.rows) * outputs), outputs,
              all.step()));
    }
  }

  private static SlotBatch copy(SlotBatch batch, Part part) {
    SlotBatch own = SlotBatch.allocate(batch.layout(), part.rows);
    for (int row = 0; row < part.rows; row++) {
      batch.copy(part.from + row, own, row);
    }
    return own;
  }

  /** Returns a batch with room for this many rows; the usual ones share their arrays. */
  private SlotBatch room(int most) {
    if (most > maxBatch) {
      return SlotBatch.allocate(layout, most);
    }
    if (room == null) {
      room = SlotBatch.allocate(layout, maxBatch);
    }
    return room;
  }

  /** Refuses further requests. */
  void close() {
    synchronized (lock) {
      closed = true;
    }
  }

  /** Serves what waits, after {@link #close}. On the loop. */
  void drain() {
    for (List<Waiting> taken = take(); !taken.isEmpty(); taken = take()) {
      compute(taken);
    }
  }
}
