package io.regatta.training.dataset;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.ExampleExchange;
import io.regatta.data.FileSource;
import io.regatta.data.LoadLog;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.protocol.vertx.SystemClock;
import java.util.List;
import java.util.Set;

/**
 * A data set that is read into memory once, shuffled there, and trained on any number of times: PaddlePaddle's
 * {@code InMemoryDataset}. Every pass has the order of the last shuffle (at first, of files and lines), so that a pass
 * can be repeated and resumed exactly. An example takes 4 bytes for each dense feature and for the label, 8 for each
 * id, and 4 for its value and for its index in the order. Owned by one model thread, as every {@link SlotDataset}.
 */
public final class InMemoryDataset extends SlotDataset {

  private static final long SECOND_DRAW = 1L << 32;

  private final FileSource<?> files;
  private final int threads;
  private final Examples examples;
  private FileLoad<?> loading;
  private long shuffled;

  /**
   * Creates a data set without the builder.
   *
   * @param files read when it is loaded
   * @param options how the examples in memory become batches; a shuffle buffer shuffles every pass anew
   * @param threads that load, each its own file
   */
  public InMemoryDataset(FileSource<?> files, LoaderOptions options, int threads) {
    this(files, new Examples(files.name() + "-memory", files.layout()), options, threads);
  }

  private InMemoryDataset(FileSource<?> files, Examples examples, LoaderOptions options, int threads) {
    super(examples, options);
    this.files = files;
    this.examples = examples;
    this.threads = threads;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Reads all files in place of what is in memory; logs its rate and the time left every few seconds. */
  public void loadIntoMemory() {
    loadIntoMemory(new LoadLog(SystemClock.get(), files.name()));
  }

  /** Reads all files in place of what is in memory. */
  public void loadIntoMemory(LoadListener listener) {
    preloadIntoMemory();
    waitPreloadDone(listener);
  }

  /** Starts reading all files in the background. */
  public void preloadIntoMemory() {
    if (loading != null) {
      throw new InvalidInput("the data set is being loaded already; call waitPreloadDone first");
    }
    releaseMemory();
    loading = FileLoad.start(files, threads);
  }

  /** Waits until the load of {@link #preloadIntoMemory} is done. */
  public void waitPreloadDone() {
    waitPreloadDone(new LoadLog(SystemClock.get(), files.name()));
  }

  /** Waits as {@link #waitPreloadDone()}, and reports the progress. */
  public void waitPreloadDone(LoadListener listener) {
    if (loading == null) {
      throw new InvalidInput("nothing is being loaded; call preloadIntoMemory first");
    }
    try {
      examples.set(loading.await(listener));
    } finally {
      loading = null;
    }
  }

  /**
   * Shuffles the examples in memory; the order is a function of the seed and of the order before. It ends an unfinished
   * pass, as the next pass would.
   */
  public void localShuffle(long seed) {
    loaded();
    super.close();
    localShuffleOf(seed);
  }

  /**
   * Gives each example the ids that another one, drawn by this seed, has in some slots; all else stays. The loss of a
   * metric caused by it measures what these slots contribute (PaddlePaddle's {@code slots_shuffle}). Each call begins
   * with the ids as they were read. Ends an unfinished pass.
   *
   * @param slots their numbers, see {@link Slots#number}; empty: all ids are as they were read
   */
  public void slotsShuffle(Set<Integer> slots, long seed) {
    loaded();
    for (int slot : slots) {
      if (slot < 0 || slot >= layout().slots()) {
        throw new InvalidInput("there is no slot " + slot + " to shuffle, only 0 to " + (layout().slots() - 1));
      }
    }
    super.close();
    examples.shuffleSlots(slots.stream().mapToInt(Integer::intValue).toArray(), seed);
  }

  /**
   * Shuffles the examples of all workers: each goes to a worker drawn at random, and there into a random order.
   * Afterwards every example is in memory once over all workers, with the ids that were read, even after
   * {@link #slotsShuffle}. The assignment and the order are a function of the seed and of what the workers had before.
   * All workers must call it, with the same seed; a worker may have no examples. Meanwhile a worker holds its examples
   * at most twice. If a worker is lost, the examples are lost on all workers: load them again.
   *
   * @param workers {@code worker.exampleExchange()} of a program's {@code Worker}
   */
  public void globalShuffle(ExampleExchange workers, long seed) {
    if (loading != null) {
      throw new InvalidInput("the data set is still being loaded; call waitPreloadDone first");
    }
    super.close();
    long own = Mix64.mix(seed) + workers.worker();
    examples.shuffleSlots(new int[0], seed); // the ids of another example may go to another worker
    List<List<SlotBatch>> outgoing = examples.assign(workers.workers(), Mix64.mix(own));
    examples.set(List.of());
    shuffled = 0;
    examples.set(workers.exchange(layout(), outgoing).stream().flatMap(List::stream).toList());
    localShuffleOf(Mix64.mix(own + SECOND_DRAW));
  }

  private void localShuffleOf(long seed) {
    examples.shuffle(seed);
    shuffled = examples.size();
  }

  /**
   * Always throws: a share by position of what is in memory would leave out most of what each worker has loaded for
   * itself.
   */
  @Override
  public InMemoryDataset shard(int index, int count) {
      throw new InvalidInput("an InMemoryDataset holds only this worker's own files, so no shard of it can be taken; "
          + "pass worker.shard(files) to setFilelist, and call globalShuffle to mix the examples of all workers");
  }

  /** Returns the number of examples in memory. */
  public long getMemoryDataSize() {
    return examples.size();
  }

  /** Returns the number of examples that the last shuffle has put into order. */
  public long getShuffleDataSize() {
    return shuffled;
  }

  /** Releases the examples. */
  public void releaseMemory() {
    super.close();
    examples.set(List.of());
    shuffled = 0;
  }

  /** Ends an unfinished pass and an unfinished load. The examples stay. */
  @Override
  public void close() {
    super.close();
    if (loading != null) {
      loading.cancel();
      loading = null;
    }
  }

  @Override
  public Iterable<Batch> getData(NDManager manager) {
    loaded();
    return super.getData(manager);
  }

  private void loaded() {
    if (loading != null) {
      throw new InvalidInput("the data set is still being loaded; call waitPreloadDone first");
    }
    if (examples.size() == 0) {
      throw new InvalidInput("no examples are in memory; call loadIntoMemory first (was the file list empty, or has "
          + "releaseMemory been called?)");
    }
  }

  /** Builder; see {@link FileDatasetBuilder} for its properties. */
  public static final class Builder extends FileDatasetBuilder<Builder> {

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /** Checks that the files can be read and creates the data set; nothing is read before it is loaded. */
    public InMemoryDataset build() {
      return new InMemoryDataset(source(files), options(true), threads);
    }
  }
}
