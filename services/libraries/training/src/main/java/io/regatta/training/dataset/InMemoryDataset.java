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
 * Examples that are read into memory once, shuffled there, and trained on as often as wanted: PaddlePaddle's
 * {@code InMemoryDataset}. Every pass goes through them in the order of the last shuffle (at first, of files and lines), so
 * a pass can be repeated and resumed exactly. An example takes 4 bytes for each dense feature and for the label, 8 for each
 * id, and 4 for its value and for its place in the order. Owned by one model thread, as every {@link SlotDataset}.
 */
public final class InMemoryDataset extends SlotDataset {

  private static final long SECOND_DRAW = 1L << 32;

  private final FileSource<?> files;
  private final int threads;
  private final Examples examples;
  private FileLoad<?> loading;
  private long shuffled;

  /**
   * As the builder makes it, from its parts.
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

  /** Reads all files, instead of what is in memory; logs its rate and the time left every few seconds. */
  public void loadIntoMemory() {
    loadIntoMemory(new LoadLog(SystemClock.get(), files.name()));
  }

  /** Reads all files, instead of what is in memory. */
  public void loadIntoMemory(LoadListener listener) {
    preloadIntoMemory();
    waitPreloadDone(listener);
  }

  /** Starts reading all files while the caller does something else. */
  public void preloadIntoMemory() {
    if (loading != null) {
      throw new InvalidInput("the data set is being loaded already; call waitPreloadDone first");
    }
    releaseMemory();
    loading = FileLoad.start(files, threads);
  }

  /** Waits until what {@link #preloadIntoMemory} has begun is done. */
  public void waitPreloadDone() {
    waitPreloadDone(new LoadLog(SystemClock.get(), files.name()));
  }

  /** As {@link #waitPreloadDone()}, telling how far it is. */
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
   * Shuffles the examples in memory; the order is a function of the seed and of the order before. Ends an unfinished pass,
   * as the next one does.
   */
  public void localShuffle(long seed) {
    loaded();
    super.close();
    localShuffleOf(seed);
  }

  /**
   * Gives each example the ids that another one has in some slots, drawn by this seed, and leaves all else as it is: what a metric
   * loses by it says what these slots are worth (PaddlePaddle's {@code slots_shuffle}). Each call begins with the ids as they were
   * read. Ends an unfinished pass.
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
   * Shuffles the examples of all workers: each goes to a worker drawn at random, and there into a random order. Afterwards
   * every example is in memory once over all workers with the ids that were read, whatever {@link #slotsShuffle} has done, and who has which in what order is a function of the seed and of what
   * they had before. All workers must call it, with the same seed; a worker may have none. Meanwhile a worker holds its
   * examples twice at most. If a worker is lost, the examples are gone everywhere: load them again.
   *
   * @param workers {@code worker.exampleExchange()} of a program's {@code Worker}
   */
  public void globalShuffle(ExampleExchange workers, long seed) {
    if (loading != null) {
      throw new InvalidInput("the data set is still being loaded; call waitPreloadDone first");
    }
    super.close();
    long own = Mix64.mix(seed) + workers.worker();
    examples.shuffleSlots(new int[0], seed); // another's ids may go to another worker
    List<List<SlotBatch>> outgoing = examples.deal(workers.workers(), Mix64.mix(own));
    examples.set(List.of());
    shuffled = 0;
    examples.set(workers.exchange(layout(), outgoing).stream().flatMap(List::stream).toList());
    localShuffleOf(Mix64.mix(own + SECOND_DRAW));
  }

  private void localShuffleOf(long seed) {
    examples.shuffle(seed);
    shuffled = examples.size();
  }

  /** Refused: a part by position of what is in memory would leave out most of what each worker has loaded for itself. */
  @Override
  public InMemoryDataset shard(int index, int count) {
    throw new InvalidInput("the files of an InMemoryDataset are a worker's own already, and no part of them can be taken; "
        + "give setFilelist what worker.shard(files) gives, and call globalShuffle to mix the examples of all");
  }

  /** Examples in memory. */
  public long getMemoryDataSize() {
    return examples.size();
  }

  /** Examples that the last shuffle has put into order. */
  public long getShuffleDataSize() {
    return shuffled;
  }

  /** Forgets the examples. */
  public void releaseMemory() {
    super.close();
    examples.set(List.of());
    shuffled = 0;
  }

  /** Ends what reads: an unfinished pass, and an unfinished load. The examples stay. */
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

  /** See {@link FileDatasetBuilder} for what it is told. */
  public static final class Builder extends FileDatasetBuilder<Builder> {

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /** Sees that the files can be read; nothing is read before it is loaded. */
    public InMemoryDataset build() {
      return new InMemoryDataset(source(files), options(true), threads);
    }
  }
}
