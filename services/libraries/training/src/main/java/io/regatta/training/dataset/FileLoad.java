package io.regatta.training.dataset;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Deadline;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import io.regatta.protocol.vertx.SystemClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A load of all examples of a source's files into memory. One thread starts it and waits for it. Up to {@code threads}
 * daemon threads named {@code regatta-load-NAME-I} each take the next file. The examples are in the order of files and
 * lines with any number of threads. A failure in one file ends the load of all.
 */
final class FileLoad<R> {

  private static final int PART_ROWS = 8192;
  private static final long SHOWN_MILLIS = 200;
  private static final long JOIN_MILLIS_MAX = 5_000;

  private final FileSource<R> source;
  private final FileQueue queue;
  /** Examples by file; each list belongs to the thread that reads the file. */
  private final List<List<SlotBatch>> parts = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<AtomicReference<SlotSource.Cursor<R>>> cursors = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicLong bytesRead = new AtomicLong();
  private final AtomicLong badLines = new AtomicLong();
  private final CountDownLatch ended;
  private final List<Long> sizes;
  private final long bytes;
  private volatile boolean cancelled;

  private FileLoad(FileSource<R> source, int threadCount) {
    this.source = source;
    this.queue = new FileQueue(source.files(), 0);
    this.sizes = source.files().stream().map(DataFiles::size).toList(); // once: on S3 each is a request
    this.bytes = sizes.stream().mapToLong(Long::longValue).sum();
    source.files().forEach(file -> parts.add(new ArrayList<>()));
    ended = new CountDownLatch(threadCount);
    for (int i = 0; i < threadCount; i++) {
      AtomicReference<SlotSource.Cursor<R>> mine = new AtomicReference<>();
      cursors.add(mine);
      Thread thread = new Thread(() -> read(mine), "regatta-load-" + source.name() + "-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  /** Starts reading with up to {@code threads} threads, at most one for each file. */
  static <R> FileLoad<R> start(FileSource<R> source, int threads) {
    FileLoad<R> load = new FileLoad<>(source, Math.max(1, Math.min(threads, source.files().size())));
    try {
      load.threads.forEach(Thread::start);
      return load;
    } catch (Throwable e) { // no more threads can be started
      load.cancelled = true;
      load.cancelCursors();
      throw e;
    }
  }

  /** Runs a reading thread. */
  private void read(AtomicReference<SlotSource.Cursor<R>> mine) {
    try {
      for (int file = queue.take(); file >= 0 && !isEnding(); file = queue.take()) {
        read(file, mine);
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      cancelCursors(); // another thread may wait for a command that writes nothing
    } finally {
      ended.countDown();
    }
  }

  private boolean isEnding() {
    return cancelled || failure.get() != null;
  }

  private void read(int file, AtomicReference<SlotSource.Cursor<R>> mine) {
    List<SlotBatch> into = parts.get(file);
    long counted = 0;
    try (SlotSource.Cursor<R> cursor = source.open(new FileQueue(source.files().subList(file, file + 1), 0),
        DataCursor.startOf(0))) {
      mine.set(cursor);
      if (isEnding()) { // it may have been set before the line above
        cursor.cancel();
      }
      SlotBatch part = SlotBatch.allocate(source.layout(), PART_ROWS);
      int rows = 0;
      for (R record = cursor.next(); record != null && !isEnding(); record = cursor.next()) {
        if (!source.parse(record, part, rows)) {
          badLines.incrementAndGet();
        } else if (++rows == PART_ROWS) {
          into.add(part);
          part = SlotBatch.allocate(source.layout(), PART_ROWS);
          rows = 0;
          counted = countTo(counted, cursor.bytesBehind(), file);
        }
      }
      into.add(cut(part, rows));
    }
    countTo(counted, Long.MAX_VALUE, file);
  }

  /** Counts the file's bytes up to an offset, which may be beyond its end. */
  private long countTo(long counted, long offset, int file) {
    long now = Math.max(counted, Math.min(offset, sizes.get(file)));
    bytesRead.addAndGet(now - counted);
    return now;
  }

  private SlotBatch cut(SlotBatch part, int rows) {
    SlotBatch whole = SlotBatch.allocate(source.layout(), rows);
    for (int row = 0; row < rows; row++) {
      part.copy(row, whole, row);
    }
    return whole;
  }

  /**
   * Waits for the end of the load.
   *
   * @param listener called on this thread; an exception of it ends the load
   * @return the examples, in batches
   */
  List<SlotBatch> await(LoadListener listener) {
    try {
      while (!ended.await(SHOWN_MILLIS, TimeUnit.MILLISECONDS)) {
        listener.loaded(bytesRead.get(), bytes);
      }
      join();
    } catch (InterruptedException e) {
      cancel();
      Thread.currentThread().interrupt();
      throw new Cancelled("interrupted while loading " + source.name() + " data into memory");
    } catch (RuntimeException | Error e) { // thrown by the listener
      cancel();
      throw e;
    }
    if (failure.get() != null) {
      throw failure.get() instanceof RegattaException known ? known
          : new InvalidInput("loading data failed: " + failure.get(), failure.get());
    }
    listener.loaded(bytes, bytes);
    BadLines.logPass(source.name() + ", loading", badLines.get());
    return parts.stream().flatMap(List::stream).toList();
  }

  /** Ends the threads and waits for them. */
  void cancel() {
    cancelled = true;
    cancelCursors();
    try {
      join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the threads end by themselves
    }
  }

  private void join() throws InterruptedException {
    Deadline deadline = Deadline.inMillis(SystemClock.get(), JOIN_MILLIS_MAX);
    for (Thread thread : threads) {
      thread.join(Math.max(1, deadline.leftMillis()));
    }
  }

  private void cancelCursors() {
    cursors.forEach(mine -> {
      SlotSource.Cursor<R> cursor = mine.get();
      if (cursor != null) {
        cursor.cancel();
      }
    });
  }
}
