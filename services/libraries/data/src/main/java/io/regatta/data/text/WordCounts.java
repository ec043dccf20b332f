package io.regatta.data.text;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.data.Line;
import it.unimi.dsi.fastutil.objects.Object2LongOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A counter of the words of lines, on threads of its own, which get the lines in blocks; only a few blocks wait at a
 * time. The sums do not depend on the threads. Owned by the thread that adds lines.
 */
final class WordCounts implements AutoCloseable {

  private static final int BLOCK_BYTES = 1 << 20;
  private static final int BLOCKS_PER_THREAD = 2;

  private final Function<Line, String[]> words;
  private final int blocks;
  private final Semaphore room;
  private final ExecutorService threads;
  /** Counts to which no thread is adding at the moment. */
  private final Queue<Object2LongOpenHashMap<String>> counts = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Void> failed = new CompletableFuture<>();
  private List<Line> block = new ArrayList<>();
  private int bytes;

  /** @param words of a line; a pure function */
  WordCounts(int threadCount, Function<Line, String[]> words) {
    this.words = words;
    blocks = threadCount * BLOCKS_PER_THREAD;
    room = new Semaphore(blocks);
    AtomicInteger number = new AtomicInteger();
    threads = Executors.newFixedThreadPool(threadCount, task -> {
      Thread thread = new Thread(task, "regatta-words-" + number.getAndIncrement());
      thread.setDaemon(true);
      return thread;
    });
  }

  void add(Line line) {
    block.add(line);
    bytes += line.to() - line.from();
    if (bytes >= BLOCK_BYTES) {
      submitBlock();
    }
  }

  private void submitBlock() {
    List<Line> lines = block;
    block = new ArrayList<>();
    bytes = 0;
    acquire(1);
    threads.execute(() -> {
      try {
        count(lines);
      } catch (RuntimeException | Error e) { // e.g. no memory for the words
        failed.completeExceptionally(e);
      } finally {
        room.release();
      }
    });
  }

  private void count(List<Line> lines) {
    Object2LongOpenHashMap<String> mine = counts.poll();
    Object2LongOpenHashMap<String> into = mine != null ? mine : new Object2LongOpenHashMap<>();
    for (Line line : lines) {
      for (String word : words.apply(line)) {
        into.addTo(word, 1);
      }
    }
    counts.add(into);
  }

  /** Returns the count of each word; ends the counting. */
  Object2LongOpenHashMap<String> total() {
    submitBlock();
    acquire(blocks); // all blocks have been counted
    Object2LongOpenHashMap<String> total = counts.remove();
    for (Object2LongOpenHashMap<String> more = counts.poll(); more != null; more = counts.poll()) {
      more.object2LongEntrySet().fastForEach(e -> total.addTo(e.getKey(), e.getLongValue()));
    }
    return total;
  }

  private void acquire(int permits) {
    try {
      room.acquire(permits);
      failed.getNow(null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("the counting of words was stopped");
    } catch (CompletionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e.getCause();
    }
  }

  /** Ends the threads. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
