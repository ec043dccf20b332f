package io.regatta.data;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The options by which a {@link SlotLoader} turns a source into batches. Immutable.
 *
 * @param batchSize examples per batch of one worker
 * @param dropLast true to leave out a last group that does not fill every worker's batch
 * @param shuffleBuffer records shuffled together; 0: file order
 * @param seed of the shuffle; the order is a function of (seed, epoch, shuffleBuffer) alone
 * @param prefetchDepth batches ready or being parsed ahead of the consumer
 * @param readerThreads threads that read and parse
 * @param ordered true to keep the source's (shuffled) order with any number of threads; otherwise each batch is
 *     delivered as soon as it is parsed
 * @param shard this worker's position
 * @param shards number of positions; see {@link #shard(int, int)}
 * @param sameSteps true to leave out a last window of fewer examples than positions, so that all get the same number of
 *     batches
 */
public record LoaderOptions(int batchSize, boolean dropLast, int shuffleBuffer, long seed, int prefetchDepth,
    int readerThreads, boolean ordered, int shard, int shards, boolean sameSteps) {

  private static final int PREFETCH_MAX = 1024;
  private static final int READER_THREADS_MAX = 64;

  public LoaderOptions {
    require(batchSize >= 1, "batch size", batchSize, "at least 1");
    require(shuffleBuffer >= 0, "shuffle buffer", shuffleBuffer, "0 (off) or more");
    checkReading(prefetchDepth, readerThreads);
    require(shards >= 1 && shard >= 0 && shard < shards, "shard", shard, "0 to " + (shards - 1));
  }

  /** Creates options without {@link #sameSteps}. */
  public LoaderOptions(int batchSize, boolean dropLast, int shuffleBuffer, long seed, int prefetchDepth, int readerThreads,
      boolean ordered, int shard, int shards) {
    this(batchSize, dropLast, shuffleBuffer, seed, prefetchDepth, readerThreads, ordered, shard, shards, false);
  }

  /** Checks the limits of {@code prefetchDepth} and {@code readerThreads}, which also hold for a job file's keys. */
  public static void checkReading(int prefetchDepth, int readerThreads) {
    require(prefetchDepth >= 1 && prefetchDepth <= PREFETCH_MAX, "prefetch_depth", prefetchDepth, "1 to " + PREFETCH_MAX);
    require(readerThreads >= 1 && readerThreads <= READER_THREADS_MAX, "reader_threads", readerThreads,
        "1 to " + READER_THREADS_MAX);
  }

  private static void require(boolean holds, String what, int value, String expected) {
    if (!holds) {
      throw new InvalidInput(what + " must be " + expected + ", but is " + value);
    }
  }

  /** Returns options for one reader thread that reads everything in file order, in batches of {@code batchSize}. */
  public static LoaderOptions inOrder(int batchSize) {
    return new LoaderOptions(batchSize, false, 0, 0, 8, 1, true, 0, 1);
  }

  public LoaderOptions dropLast(boolean on) {
    return new LoaderOptions(batchSize, on, shuffleBuffer, seed, prefetchDepth, readerThreads, ordered, shard, shards, sameSteps);
  }

  public LoaderOptions shuffled(int buffer, long newSeed) {
    return new LoaderOptions(batchSize, dropLast, buffer, newSeed, prefetchDepth, readerThreads, ordered,
        shard, shards, sameSteps);
  }

  public LoaderOptions readers(int threads, int newPrefetchDepth, boolean inOrder) {
    return new LoaderOptions(batchSize, dropLast, shuffleBuffer, seed, newPrefetchDepth, threads, inOrder,
        shard, shards, sameSteps);
  }

  /**
   * Returns the options of position {@code index} of {@code count} equal workers. The (shuffled) records are cut into
   * windows of {@code count × batchSize}; worker k gets the k-th share of each window. So the workers' batches of step
   * t, concatenated, are batch t of a single worker with {@code count} times the batch size.
   *
   * <p>A short last window is cut into equal shares too (they differ by at most one example), so that no worker runs
   * out of steps early. With fewer examples left than workers, some get none, or, with {@link #sameSteps}, all get
   * none.
   */
  public LoaderOptions shard(int index, int count) {
    return new LoaderOptions(batchSize, dropLast, shuffleBuffer, seed, prefetchDepth, readerThreads, ordered,
        index, count, sameSteps);
  }

  /**
   * Returns the same with an equal number of batches for all positions, for workers whose steps wait for each other.
   */
  public LoaderOptions ofEqualSteps() {
    return new LoaderOptions(batchSize, dropLast, shuffleBuffer, seed, prefetchDepth, readerThreads, ordered,
        shard, shards, true);
  }

  /** Returns the records per window of all workers. */
  long window() {
    return (long) batchSize * shards;
  }

  /** Returns the fewest records of a last window; a smaller one is left out. */
  long leastWindow() {
    return dropLast ? window() : sameSteps ? shards : 1;
  }

  private long lastWindow(long records) {
    long last = records % window();
    return last < leastWindow() ? 0 : last;
  }

  /** Returns the batches that this position gets from {@code records} records, or -1 if that number is unknown (-1). */
  public long batches(long records) {
    long last = records < 0 ? 0 : lastWindow(records);
    return records < 0 ? -1 : records / window() + (partEnd(last) > partStart(last) ? 1 : 0);
  }

  /**
   * Returns the examples that this position gets from {@code records} records, or -1 if that number is unknown (-1).
   */
  public long examples(long records) {
    long last = records < 0 ? 0 : lastWindow(records);
    return records < 0 ? -1 : records / window() * batchSize + partEnd(last) - partStart(last);
  }

  /** Returns the index of this position's first record in a window of {@code records}. */
  long partStart(long records) {
    return records * shard / shards;
  }

  /** Returns the index after this position's last record in a window of {@code records}. */
  long partEnd(long records) {
    return records * (shard + 1) / shards;
  }
}
