package io.regatta.data;

import io.regatta.core.data.Spans;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.FileQueue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pass over a source, as batches. Owned by the consuming (model) thread. Its {@code readerThreads} daemon threads
 * are named {@code regatta-read-NAME-I}. They take turns to cut the next batch's records from the source, and parse
 * them in parallel, at most {@code prefetchDepth} batches ahead. With {@link #openFiles} each of them reads files of
 * its own. The threads end with the source, with the first failure (which {@link #next} then throws), or with {@link
 * #close}. Any thread may call {@code close}; it releases a consumer that waits for a batch.
 */
public final class SlotLoader implements Iterator<SlotBatch>, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SlotLoader.class);
  private static final long JOIN_MILLIS_MAX = 5_000;

  private final LoaderOptions options;
  private final String pass;
  /** True if batches are delivered also when all their lines were skipped. */
  private boolean empties;
  private final Timeline trace;
  /** Lines of this pass that were skipped as bad; all readers count. */
  private final AtomicLong left = new AtomicLong();
  private final BlockingQueue<CompletableFuture<SlotBatch>> ready;
  private final List<Shared<?>> feeds = new ArrayList<>();
  private final List<Thread> readers = new ArrayList<>();
  private final AtomicInteger readersLeft = new AtomicInteger();
  /** True once a reader has failed: the others cut no more batches. */
  private volatile boolean failed;
  private volatile boolean closed;
  private SlotBatch peeked;
  private boolean ended;
  private long waitedNanos;

  /** A feed that several readers use in turn. */
  private static final class Shared<R> {
    private final ReentrantLock turn = new ReentrantLock();
    private final RecordFeed<R> feed;
    private boolean ended; // guarded by turn

    private Shared(RecordFeed<R> feed) {
      this.feed = feed;
    }
  }

  /**
   * Starts reading.
   *
   * @param pass from 0, part of the seed of the shuffle
   */
  public static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, int pass) {
    return open(source, options, DataCursor.startOf(pass));
  }

  /** Starts reading at a position. */
  public static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, DataCursor from) {
    return open(source, options, from, Thread::new, Timeline.NONE);
  }

  /**
   * Starts reading, with threads made by {@code threads}, which report to {@code trace}. If a thread cannot be started,
   * those before it end and its error is thrown.
   */
  public static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, DataCursor from, ThreadFactory threads,
      Timeline trace) {
    return open(source, options, from, null, threads, trace);
  }

  /**
   * Starts reading the assigned batches. Every batch is delivered, also one whose lines were all skipped as bad.
   *
   * @param dealt in ascending positions of the pass; used by one reader thread at a time
   */
  public static <R> SlotLoader openDealt(SlotSource<R> source, LoaderOptions options, int pass, Iterator<Spans> dealt,
      Timeline trace) {
    return open(source, options, DataCursor.startOf(pass), dealt, Thread::new, trace);
  }

  private static <R> SlotLoader open(SlotSource<R> source, LoaderOptions options, DataCursor from, Iterator<Spans> dealt,
      ThreadFactory threads, Timeline trace) {
    SlotLoader loader = new SlotLoader(options, source.name() + ", pass " + from.pass(), dealt != null, trace);
    Shared<R> shared = new Shared<>(new RecordFeed<>(source.open(from), options, from, dealt));
    loader.start(source, Collections.nCopies(options.readerThreads(), shared), threads);
    return loader;
  }

  /**
   * Starts reading with files of its own for every reader thread: each takes the next file from a common queue and
   * makes batches of it. Batches are delivered as they are parsed; the last batch of each reader may be short.
   */
  public static <R> SlotLoader openFiles(FileSource<R> source, LoaderOptions options, int pass, Timeline trace) {
    SlotLoader loader = new SlotLoader(options, source.name() + ", pass " + pass, false, trace);
    FileQueue queue = new FileQueue(source.files(), 0);
    DataCursor start = DataCursor.startOf(pass);
    List<Shared<R>> each = new ArrayList<>();
    for (int i = 0; i < options.readerThreads(); i++) {
      each.add(new Shared<>(new RecordFeed<>(source.open(queue, start), options, start)));
    }
    loader.start(source, each, Thread::new);
    return loader;
  }

  private SlotLoader(LoaderOptions options, String pass, boolean empties, Timeline trace) {
    this.pass = pass;
    this.empties = empties;
    this.trace = trace;
    this.options = options;
    this.ready = new ArrayBlockingQueue<>(options.prefetchDepth());
  }

  /** @param feedOfReader one for each thread to start */
  private <R> void start(SlotSource<R> source, List<Shared<R>> feedOfReader, ThreadFactory threads) {
    for (Shared<R> feed : feedOfReader) {
      if (!feeds.contains(feed)) {
        feeds.add(feed);
      }
      Thread thread = threads.newThread(() -> read(source, feed));
      thread.setName("regatta-read-" + source.name() + "-" + readers.size());
      thread.setDaemon(true);
      readers.add(thread);
    }
    readersLeft.set(readers.size());
    try {
      readers.forEach(Thread::start);
    } catch (Throwable e) { // e.g. no native thread is left
      close();
      readers.stream().filter(thread -> thread.getState() == Thread.State.NEW).forEach(never -> endOfReader());
      throw e;
    }
  }

  /** Runs a reader thread. */
  private <R> void read(SlotSource<R> source, Shared<R> mine) {
    try {
      while (true) {
        CompletableFuture<SlotBatch> promised = new CompletableFuture<>();
        RecordFeed.Cut<R> cut;
        mine.turn.lockInterruptibly();
        try {
          cut = mine.ended || failed ? null : mine.feed.next();
          mine.ended |= cut == null;
          if (cut != null && options.ordered()) {
            ready.put(promised); // in turn, hence in order
          }
        } finally {
          mine.turn.unlock();
        }
        if (cut == null) {
          return;
        }
        parse(source, cut, promised);
        if (!options.ordered()) {
          ready.put(promised);
        }
      }
    } catch (InterruptedException closing) {
      // Only close() interrupts, and it releases the consumer.
    } catch (Throwable failure) {
      fail(failure);
    } finally {
      endOfReader();
    }
  }

  /** Parses a batch. A failure ends the feeds, and the consumer gets it when it reaches this batch. */
  private <R> void parse(SlotSource<R> source, RecordFeed.Cut<R> cut, CompletableFuture<SlotBatch> promised) {
    try {
      List<R> records = cut.records();
      long begin = trace.clock().nanos();
      SlotBatch batch = SlotBatch.allocate(source.layout(), records.size());
      int rows = 0;
      for (R record : records) {
        rows += source.parse(record, batch, rows) ? 1 : 0;
      }
      left.addAndGet(records.size() - rows);
      recordSpan("parse", begin, rows);
      begin = trace.clock().nanos();
      SlotBatch whole = batch.first(rows, cut.after());
      recordSpan("distinct ids", begin, rows);
      promised.complete(whole);
    } catch (Throwable failure) {
      failed = true;
      promised.completeExceptionally(failure);
    }
  }

  private void recordSpan(String what, long begin, int rows) {
    if (trace.on()) {
      trace.span(Thread.currentThread().getName(), what, begin, Map.of("rows", rows));
    }
  }

  private void fail(Throwable failure) {
    failed = true;
    CompletableFuture<SlotBatch> promised = new CompletableFuture<>();
    promised.completeExceptionally(failure);
    putUnlessClosed(promised);
  }

  /** Ends a reader. The last one closes the source and marks the end with a future of null. */
  private void endOfReader() {
    if (readersLeft.decrementAndGet() > 0) {
      return;
    }
    BadLines.logPass(pass, left.get());
    for (Shared<?> shared : feeds) {
      logLeftOut(shared.feed.leftOut());
      try {
        shared.feed.close();
      } catch (RuntimeException | Error e) { // the consumer must not wait, whatever a source throws
        fail(e);
      }
    }
    putUnlessClosed(CompletableFuture.completedFuture(null));
  }

  private void logLeftOut(int records) {
    if (records > 0 && options.sameSteps() && !options.dropLast() && options.shard() == 0) {
      LOG.info("{}: left out the last {}, too few to give each of {} workers one", pass, records == 1 ? "record" : records + " records",
          options.shards());
    }
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
      peeked = batch == null || batch.rows() == 0 && !empties ? null : batch; // all lines of a batch may have been skipped
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

  /**
   * Delivers batches also if all their lines were skipped as bad. The consumer calls it before it takes the first one.
   */
  public void giveEmptyBatches() {
    empties = true;
  }

  /** Returns how long the consumer has waited for readers so far. Called by the consumer. */
  public long waitedNanos() {
    return waitedNanos;
  }

  /**
   * Returns the bytes of files that the readers have read in this pass, see {@link SlotSource.Cursor#bytesBehind}. Any
   * thread.
   */
  public long bytesBehind() {
    return feeds.stream().mapToLong(shared -> shared.feed.bytesBehind()).sum();
  }

  private SlotBatch take() {
    try {
      long begin = trace.clock().nanos();
      SlotBatch batch = ready.take().get();
      waitedNanos += trace.clock().nanos() - begin;
      return batch;
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

  /** Ends the readers and waits for them; no thread of this loader runs afterwards. */
  @Override
  public void close() {
    closed = true;
    readers.forEach(Thread::interrupt);
    feeds.forEach(shared -> shared.feed.cancel()); // a reader that waits for a command does not notice the interruption
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
