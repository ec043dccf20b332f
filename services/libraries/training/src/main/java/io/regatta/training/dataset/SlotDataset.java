package io.regatta.training.dataset;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.util.Progress;
import io.regatta.core.data.Spans;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.data.DataCursor;
import io.regatta.data.DataShare;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.training.trace.StepTrace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A {@link SlotSource} as a DJL {@link Dataset}, for {@code EasyTrain.fit} and hand-written loops alike. Owned by one
 * model thread, which makes the arrays (MXNet keeps megabytes for every thread that calls it). The loader's threads
 * read, parse and find the distinct ids.
 *
 * <p>The data of a batch are {@code [dense float32 (rows, dense), ids int64 (rows, columns), values float32 (rows,
 * columns)]}. Arrays of width 0, and values if ids have none, are left out. The labels are {@code [float32 (rows, labels)]}.
 * Every {@link #getData} is the next pass, with an order of its own if shuffled; it ends an unfinished earlier one.
 */
public class SlotDataset implements Dataset, AutoCloseable {

  private final SlotSource<?> source;
  private LoaderOptions options;
  private IntFunction<DataShare> shares = this::byPosition;
  private final SlotArrays arrays = new SlotArrays();
  private StepTrace trace = StepTrace.off();
  private SlotLoader loader;
  private long waitedNanos;
  /** Bytes of all files; 0 until they are first needed. */
  private long bytes;
  /** Bytes of the files before the one in which the pass began. */
  private long bytesBefore;
  /** True if batches without examples are delivered too. */
  private boolean emptyBatches;
  /** The position where the next pass begins. */
  private DataCursor next = DataCursor.startOf(0);

  public SlotDataset(SlotSource<?> source, LoaderOptions options) {
    this.source = source;
    this.options = options;
  }

  private DataShare byPosition(int position) {
    LoaderOptions of = options.shard(position, options.shards());
    return new DataShare(List.of(), source.name(), position, options.shards(), of.examples(source.size()));
  }

  public Layout layout() {
    return source.layout();
  }

  public LoaderOptions options() {
    return options;
  }

  /** Returns a new dataset of position {@code index} of {@code count} over the same source. */
  public SlotDataset shard(int index, int count) {
    return new SlotDataset(source, options.shard(index, count));
  }

  /**
   * Gives all positions the same number of steps from the next pass on: examples at its end that are too few for each
   * position to get one are left out. For training whose steps wait for each other.
   */
  public void trainInSteps() {
    options = options.ofEqualSteps();
  }

  /**
   * Delivers a batch of size 0, from the next pass on, if all its lines were skipped as bad, so that all positions
   * count the same batches.
   */
  public void giveEmptyBatches() {
    emptyBatches = true;
  }

  /** Sets the timeline to which the readers of later passes report. */
  public void trace(StepTrace timeline) {
    trace = timeline;
  }

  /** Returns the examples per epoch of this position, or -1 if unknown. Lines skipped as bad count too. */
  public long examples() {
    return options.examples(source.size());
  }

  /**
   * Sets the files that each position reads alone, for {@link #shareOf}.
   *
   * @param files by position
   * @param positions number of positions
   */
  public SlotDataset filesBy(IntFunction<List<Path>> files, int positions) {
    shares = position -> new DataShare(files.apply(position).stream().map(DataFiles::name).toList(), source.name(), position, positions, -1);
    return this;
  }

  /** Returns the partition of the training data of a position of the job, this one's or another one's. */
  public DataShare shareOf(int position) {
    return shares.apply(position);
  }

  /** Returns the batches per epoch of this position, or -1 if unknown. */
  public long batches() {
    return options.batches(source.size());
  }

  /**
   * Resumes the next pass at the position of an earlier one ({@link BatchWithIds#after}); later passes are whole. With
   * ordered reading its batches are those that an uninterrupted pass would have had from there on. Otherwise batches
   * near that position may be read twice or not at all.
   */
  public void resume(DataCursor place) {
    next = place;
  }

  /** Skips the next pass: nothing of it is read. */
  public void leaveOut() {
    next = DataCursor.startOf(next.pass() + 1);
  }

  /**
   * Returns true if a position within a pass says what was read: then {@link #resume} yields the batches of an
   * uninterrupted pass.
   */
  public boolean resumesWithinPass() {
    return options.ordered();
  }

  @Override
  public Iterable<Batch> getData(NDManager manager) {
    DataCursor from = beginPass();
    return () -> {
      close();
      bytesBefore = source instanceof FileSource<?> files && from.file() > 0 ? bytes(files, from.file()) : 0;
      loader = open(from, trace);
      if (emptyBatches) {
        loader.giveEmptyBatches();
      }
      return new Batches(manager, loader, false);
    };
  }

  /** Returns the batches of the next pass for another position than the one that this data set was made for. */
  public Iterable<Batch> getData(NDManager manager, int index, int count) {
    DataCursor from = beginPass();
    return () -> {
      close();
      loader = SlotLoader.open(source, options.shard(index, count), from, Thread::new, trace);
      return new Batches(manager, loader, false);
    };
  }

  /** Returns true if any worker can read any share of a pass and finds the same batches in it. */
  public boolean canReadParts() {
    return getClass() == SlotDataset.class && options.ordered();
  }

  /** Begins the next pass, of which these parts are read one after another. */
  public List<Iterable<Batch>> parts(NDManager manager, List<Part> parts) {
    DataCursor from = beginPass();
    List<Iterable<Batch>> batches = new ArrayList<>();
    for (Part part : parts) {
      batches.add(() -> {
        close();
        loader = SlotLoader.open(source, options.shard(part.part(), part.of()), from, Thread::new, trace);
        return new PartBatches(new Batches(manager, loader, false), loader, part);
      });
    }
    return batches;
  }

  /**
   * Returns true if any rank can read any batch of a pass: its examples are counted, and their order is the same on all
   * ranks.
   */
  public boolean canBeDealt() {
    return getClass() == SlotDataset.class && options.ordered() && source.size() >= 0;
  }

  /** Returns the examples of the source, of all positions. */
  public long allExamples() {
    return source.size();
  }

  /** Begins the next pass and returns the position where it begins. */
  public DataCursor beginPass() {
    DataCursor from = next;
    next = DataCursor.startOf(from.pass() + 1);
    return from;
  }

  /**
   * Returns the batches of a pass that are assigned to this rank; null for a batch without a good line. Ends an earlier
   * iteration.
   *
   * @param batches in ascending positions of the pass
   */
  public Iterator<Batch> dealt(NDManager manager, int pass, Iterator<Spans> batches) {
    close();
    loader = SlotLoader.openDealt(source, options, pass, batches, trace);
    return new Batches(manager, loader, true);
  }

  /** Starts the readers of a pass. */
  protected SlotLoader open(DataCursor from, StepTrace timeline) {
    return SlotLoader.open(source, options, from, Thread::new, timeline);
  }

  /**
   * Returns the seconds that the model thread has waited for readers, over all passes: what more or faster readers
   * could save.
   */
  public double waitedSeconds() {
    return waitedNanos * 1e-9;
  }

  /**
   * Returns the share of the bytes of this pass's files that has been read. It estimates the progress of the pass;
   * readers are ahead of the training. NaN if unknown: before the first pass, or if examples do not come from files.
   */
  public double readOfPass() {
    if (loader == null || !(source instanceof FileSource<?> files)) {
      return Double.NaN;
    }
    if (bytes == 0) {
      bytes = Math.max(1, bytes(files, files.files().size()));
    }
    return Math.min(1, (double) (bytesBefore + loader.bytesBehind()) / bytes);
  }

  /** Returns the share of the first {@code passes} passes that has been read; see {@link #readOfPass}. */
  public double readOf(int passes) {
    return (next.pass() - 1 + readOfPass()) / passes;
  }

  private static long bytes(FileSource<?> of, int files) {
    return of.files().subList(0, files).stream().mapToLong(DataFiles::size).sum();
  }

  @Override
  public void prepare(Progress progress) {}

  /** Ends the reader threads of an unfinished epoch. */
  @Override
  public void close() {
    if (loader != null) {
      loader.close();
      loader = null;
    }
  }

  /**
   * An iterator over the rest of a part: every {@code stride}th batch of those left. The other batches are read, but
   * not copied into arrays.
   */
  private static final class PartBatches implements Iterator<Batch> {

    private final Batches batches;
    private final SlotLoader from;
    private final long stride;
    private long toSkip;

    private PartBatches(Batches batches, SlotLoader from, Part part) {
      this.batches = batches;
      this.from = from;
      stride = part.stride();
      toSkip = part.batches();
    }

    @Override
    public boolean hasNext() {
      for (; toSkip > 0 && batches.hasNext(); toSkip--) {
        from.next();
      }
      return batches.hasNext();
    }

    @Override
    public Batch next() {
      hasNext();
      Batch next = batches.next();
      toSkip = stride - 1;
      return next;
    }
  }

  /** An iterator that copies host batches into engine arrays, on the thread that iterates. */
  private final class Batches implements Iterator<Batch> {

    private final NDManager manager;
    private final SlotLoader from;
    private final boolean nullIfEmpty;
    private long done;

    private Batches(NDManager manager, SlotLoader from, boolean nullIfEmpty) {
      this.manager = manager;
      this.from = from;
      this.nullIfEmpty = nullIfEmpty;
    }

    @Override
    public boolean hasNext() {
      long before = from.waitedNanos();
      boolean more = from.hasNext();
      waitedNanos += from.waitedNanos() - before;
      if (!more) {
        from.close();
      }
      return more;
    }

    @Override
    public Batch next() {
      SlotBatch host = from.next();
      if (host.rows() == 0 && nullIfEmpty) {
        return null;
      }
      NDManager scope = manager.newSubManager();
      if (host.rows() == 0) {
        return BatchWithIds.empty(scope, done, examples(), host.after());
      }
      NDList data = arrays.data(scope, host);
      NDList labels = arrays.labels(scope, host);
      done += host.rows();
      return new BatchWithIds(scope, data, labels, host.rows(), done, examples(),
          arrays.ids(data, layout()), host.distinct(),
          host.after());
    }
  }
}
