package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.trace.StepTrace;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One pass over a source, as batches. Owned by the consuming (model) thread; {@code readerThreads} daemon threads named
 * {@code regatta-read-NAME-I} take turns to cut the next batch's records from the source and parse them side by side,
 * at most {@code prefetchDepth} batches ahead. They end with the source, with the first failure (which {@link #next} then
 * throws), or with {@link #close}, which any thread may call: a consumer waiting for a batch is then released.
 */
public final class SlotLoader implements Iterator<SlotBatch>, AutoCloseable {

  private static final long JOIN_MILLIS_MAX = 5_000;

  private final LoaderOptions options;
  private final String pass;
  private final StepTrace trace;
  /** Lines of this pass that were left out as bad; any reader counts. */
  private final AtomicLong left = new AtomicLong();
  private final BlockingQueue<CompletableFuture<SlotBatch>> ready;
  private final ReentrantLock feedTurn = new ReentrantLock();
  private final List<Thread> readers = new ArrayList<>();
  private boolean feedEnded; // guarded by feedTurn
  private int readersLeft; // guarded by feedTurn
  private volatile boolean closed;
  private SlotBatch peeked;
  private boolean ended;

  /**
   * Starts reading.
   *
   * @param epoch from 0, part of the seed of the shuffle
   */
  public static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, int epoch) {
    return open(source, options, epoch, Thread::new, StepTrace.off());
  }

  /**
   * As above, with threads made by {@code threads}, which tell {@code trace} what they do. One that cannot be started ends
   * those before it, and is thrown.
   */
  static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, int epoch, ThreadFactory threads,
      StepTrace trace) {
    SlotLoader loader = new SlotLoader(options, source.name() + ", pass " + epoch, trace);
    RecordFeed<R> feed = new RecordFeed<>(source, options, epoch);
    for (int i = 0; i < options.readerThreads(); i++) {
      Thread thread = threads.newThread(() -> loader.read(source, feed));
      thread.setName("regatta-read-" + source.name() + "-" + i);
      thread.setDaemon(true);
      loader.readers.add(thread);
    }
    loader.readersLeft = loader.readers.size();
    try {
      loader.readers.forEach(Thread::start);
    } catch (Throwable e) { // e.g. no native thread is left
      loader.close();
      loader.readers.stream().filter(thread -> thread.getState() == Thread.State.NEW)
          .forEach(never -> loader.endOfReader(feed));
      throw e;
    }
    return loader;
  }

  private SlotLoader(LoaderOptions options, String pass, StepTrace trace) {
    this.pass = pass;
    this.trace = trace;
    this.options = options;
    this.ready = new ArrayBlockingQueue<>(options.prefetchDepth());
  }

  /** Whole life of a reader thread. */
  private <R> void read(SlotSource<R> source, RecordFeed<R> feed) {
    try {
      while (true) {
        CompletableFuture<SlotBatch> promised = new CompletableFuture<>();
        List<R> records;
        feedTurn.lockInterruptibly();
        try {
          records = feedEnded ? null : feed.next();
          feedEnded |= records == null;
          if (records != null && options.ordered()) {
            ready.put(promised); // in turn, hence in order
          }
        } finally {
          feedTurn.unlock();
        }
        if (records == null) {
          return;
        }
        parse(source, records, promised);
        if (!options.ordered()) {
          ready.put(promised);
        }
      }
    } catch (InterruptedException closing) {
      // Only close() interrupts; the consumer is released there.
    } catch (Throwable failure) {
      fail(failure);
    } finally {
      endOfReader(feed);
    }
  }

  /** Parses a batch; a failure ends the feed and is the consumer's when it comes to this batch. */
  private <R> void parse(SlotSource<R> source, List<R> records, CompletableFuture<SlotBatch> promised) {
    try {
      long begin = System.nanoTime();
      SlotBatch batch = SlotBatch.allocate(source.layout(), records.size());
      int rows = 0;
      for (R record : records) {
        rows += source.parse(record, batch, rows) ? 1 : 0;
      }
      left.addAndGet(records.size() - rows);
      told("parse", begin, rows);
      begin = System.nanoTime();
      SlotBatch whole = batch.first(rows);
      told("distinct ids", begin, rows);
      promised.complete(whole);
    } catch (Throwable failure) {
      promised.completeExceptionally(failure);
      endFeed();
    }
  }

  private void told(String what, long begin, int rows) {
    if (trace.on()) {
      trace.span(Thread.currentThread().getName(), what, begin, Map.of("rows", rows));
    }
  }

  private void endFeed() {
    feedTurn.lock();
    feedEnded = true;
    feedTurn.unlock();
  }

  private void fail(Throwable failure) {
    endFeed();
    CompletableFuture<SlotBatch> failed = new CompletableFuture<>();
    failed.completeExceptionally(failure);
    putUnlessClosed(failed);
  }

  /** The last reader closes the source and marks the end with a future of null. */
  private void endOfReader(RecordFeed<?> feed) {
    feedTurn.lock();
    try {
      if (--readersLeft > 0) {
        return;
      }
    } finally {
      feedTurn.unlock();
    }
    BadLines.logPass(pass, left.get());
    try {
      feed.close();
    } catch (RuntimeException | Error e) { // whatever the user's source throws: the consumer must not wait for it
      fail(e);
    }
    putUnlessClosed(CompletableFuture.completedFuture(null));
  }

  private void putUnlessClosed(CompletableFuture<SlotBatch> entry) {
    try {
      if (!closed) {
        ready.put(entry);
      }
    } catch (InterruptedException closing) {
      // The consumer is released by close().
    }
  }

  @Override
  public boolean hasNext() {
    while (peeked == null && !ended) {
      SlotBatch batch = take();
      ended = batch == null;
      peeked = batch == null || batch.rows() == 0 ? null : batch; // all lines of a batch may have been skipped
    }
    return !ended;
  }

  @Override
  public SlotBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("end of data");
    }
    SlotBatch batch = peeked;
    peeked = null;
    return batch;
  }

  private SlotBatch take() {
    try {
      return ready.take().get();
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new Cancelled("interrupted while waiting for data");
    } catch (ExecutionException e) {
      ended = true;
      close();
      if (e.getCause() instanceof RegattaException known) {
        throw known;
      }
      throw new InvalidInput("reading data failed: " + e.getCause(), e.getCause());
    }
  }

  /** Ends the readers and waits for them; nothing of this loader is left afterwards. */
  @Override
  public void close() {
    closed = true;
    readers.forEach(Thread::interrupt);
    CompletableFuture<SlotBatch> cancelled = new CompletableFuture<>();
    cancelled.completeExceptionally(new Cancelled("the loader was closed"));
    while (!ready.offer(cancelled)) {
      ready.poll();
    }
    boolean interrupted = false;
    for (Thread reader : readers) {
      try {
        if (reader != Thread.currentThread()) {
          reader.join(JOIN_MILLIS_MAX);
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
