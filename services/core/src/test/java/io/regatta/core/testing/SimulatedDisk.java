package io.regatta.core.testing;

import io.regatta.core.loop.Disk;
import io.regatta.core.loop.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * A disk in virtual time. Each piece of work begins after a delay that a seed draws; while it waits for its owner, everything else of
 * the simulation goes on. Confined to the thread of its time.
 */
public final class SimulatedDisk implements Disk {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final VirtualTime time;
  private final Loop owner;
  private final Loop worker;
  private final Random random;
  private final long maxNanos;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean working;
  private boolean closed;
  private long questions;

  /** @param maxMicros longest delay of a piece of work, and of a question to the owner, µs */
  public SimulatedDisk(VirtualTime time, Loop owner, String name, long seed, long maxMicros) {
    this.time = time;
    this.owner = owner;
    worker = time.loop(name);
    random = new Random(seed);
    maxNanos = maxMicros * NANOS_PER_MICRO;
  }

  /** Returns how often the work has asked its owner. */
  public long questions() {
    return questions;
  }

  @Override
  public <T> CompletableFuture<T> inTurn(Callable<T> work) {
    if (closed) {
      return CompletableFuture.failedFuture(new RejectedExecutionException("the disk has been closed"));
    }
    CompletableFuture<T> done = new CompletableFuture<>();
    waiting.add(() -> {
      run(work, done);
      working = false;
      next();
    });
    next();
    return done;
  }

  private void next() {
    if (!working && !waiting.isEmpty()) {
      working = true;
      time.schedule(worker, delay(), waiting.poll());
    }
  }

  @Override
  public <T> CompletableFuture<T> atOnce(Callable<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    time.schedule(worker, delay(), () -> run(work, done));
    return done;
  }

  private long delay() {
    return (long) (random.nextDouble() * maxNanos);
  }

  private <T> void run(Callable<T> work, CompletableFuture<T> done) {
    T result = null;
    Throwable failure = null;
    try {
      result = work.call();
    } catch (Exception | Error e) {
      failure = e;
    }
    T value = result;
    Throwable why = failure;
    owner.execute(() -> {
      if (why == null) {
        done.complete(value);
      } else {
        done.completeExceptionally(why);
      }
    });
  }

  @Override
  public <T> T ask(Supplier<T> question) throws IOException {
    questions++;
    CompletableFuture<T> answer = new CompletableFuture<>();
    time.schedule(owner, delay(), () -> {
      try {
        answer.complete(question.get());
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    });
    time.runUntil(() -> answer.isDone() || closed, LIMIT);
    if (!answer.isDone()) {
      throw new IOException("its owner is being stopped");
    }
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    waiting.clear();
    return CompletableFuture.completedFuture(null);
  }
}
