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
 * model thread, which makes the arrays (MXNet keeps megabytes for every thread that calls it); reading, parsing and
 * finding the distinct ids happen on the loader's threads. A batch is data
 * {@code [dense float32 (rows, dense), ids int64 (rows, columns), values float32 (rows, columns)]}, of which a part of width
 * 0 is left out, and the values unless the ids have some; labels are {@code [float32 (rows, 1)]}. Every {@link #getData} is
 * the next pass, with an order of its own if shuffled; it ends an unfinished earlier one.
 */
public class SlotDataset implements Dataset, AutoCloseable {

  private final SlotSource<?> source;
  private LoaderOptions options;
  private IntFunction<DataShare> shares = this::byPosition;
  private final SlotArrays arrays = new SlotArrays();
  private StepTrace trace = StepTrace.off();
  private SlotLoader loader;
  private long waitedNanos;
  /** Bytes of all files; 0: nobody has asked yet. */
  private long bytes;
  /** Bytes of the files before the one that the pass began in. */
  private long bytesBefore;
  /** Whether batches of no example are given, too. */
  private boolean emptyBatches;
  /** Where the next pass begins. */
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

  /** A new dataset of position {@code index} of {@code count} of this one's source. */
  public SlotDataset shard(int index, int count) {
    return new SlotDataset(source, options.shard(index, count));
  }

  /**
   * From the next pass on, examples at its end that are too few for each position to get one are left out, so that all make
   * the same number of steps: for training where steps wait for each other.
   */
  public void trainInSteps() {
    options = options.withSameSteps();
  }

  /**
   * From the next pass on, a batch whose lines were all left out as bad comes as one of size 0, so that all positions
   * count the same batches.
   */
  public void giveEmptyBatches() {
    emptyBatches = true;
  }

  /** The readers of passes that begin from now on tell this timeline what they do. */
  public void trace(StepTrace timeline) {
    trace = timeline;
  }

  /** Examples per epoch of this position, or -1 if unknown. Lines skipped as bad count too. */
  public long examples() {
    return options.examples(source.size());
  }

  /**
   * Has this data set say which files each position reads, where its own files are all that it reads.
   *
   * @param files by position
   * @param positions that there are
   */
  public SlotDataset filesBy(IntFunction<List<Path>> files, int positions) {
    shares = position -> new DataShare(files.apply(position).stream().map(DataFiles::name).toList(), source.name(), position, positions, -1);
    return this;
  }

  /** Returns the part of the training data that a position of the job reads, this one's or another one's. */
  public DataShare shareOf(int position) {
    return shares.apply(position);
  }

  /** Batches per epoch of this position, or -1 if unknown. */
  public long batches() {
    return options.batches(source.size());
  }

  /**
   * The next pass goes on at a place where an earlier one was ({@link BatchWithIds#after}); those after it are whole ones. With
   * ordered reading its batches are those that an unbroken pass would have had from there on; otherwise batches that were
   * ahead of that place, or behind, may come twice or not at all.
   */
  public void resume(DataCursor place) {
    next = place;
  }

  /** The next pass is left out: nothing of it is read, and the one after it is the next. */
  public void leaveOut() {
    next = DataCursor.startOf(next.pass() + 1);
  }

  /** Whether a place within a pass says what was read: then {@link #resume} gives the batches of an unbroken pass. */
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

  /** As {@link #getData(NDManager)}, for another position than the one that this was made for. */
  public Iterable<Batch> getData(NDManager manager, int index, int count) {
    DataCursor from = beginPass();
    return () -> {
      close();
      loader = SlotLoader.open(source, options.shard(index, count), from, Thread::new, trace);
      return new Batches(manager, loader, false);
    };
  }

  /** Returns true if any worker can read any part of a pass, and finds the same batches in it. */
  public boolean canReadParts() {
    return getClass() == SlotDataset.class && options.ordered();
  }

  /** Begins the next pass, of which these parts are to be read, one after another. */
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

  /** Whether any rank can read any part of a pass: its examples are counted, and in an order that is the same at all. */
  public boolean canBeDealt() {
    return getClass() == SlotDataset.class && options.ordered() && source.size() >= 0;
  }

  /** Examples of the source, of all positions. */
  public long allExamples() {
    return source.size();
  }

  /** The next pass begins; it is the one of the place that is returned. */
  public DataCursor beginPass() {
    DataCursor from = next;
    next = DataCursor.startOf(from.pass() + 1);
    return from;
  }

  /**
   * Batches of a pass as they are dealt to this rank; null in the place of one that has no good line. Ends an earlier iteration.
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

  /** Seconds that the model thread has waited for readers, over all passes: what more or faster ones could save. */
  public double waitedSeconds() {
    return waitedNanos * 1e-9;
  }

  /**
   * Share of the bytes of this pass's files that has been read: an estimate of how much of it is done, for readers are ahead
   * of the training. NaN if it is not known: before the first pass, or where examples do not come from files.
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

  /** The same of so many passes from the first one on. */
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

  /** What a part still has: of its batches from one on every so many; the others are read, and become no arrays. */
  private static final class PartBatches implements Iterator<Batch> {

    private final Batches batches;
    private final SlotLoader from;
    private final long stride;
    private long toPassOver;

    private PartBatches(Batches batches, SlotLoader from, Part part) {
      this.batches = batches;
      this.from = from;
      stride = part.stride();
      toPassOver = part.batches();
    }

    @Override
    public boolean hasNext() {
      for (; toPassOver > 0 && batches.hasNext(); toPassOver--) {
        from.next();
      }
      return batches.hasNext();
    }

    @Override
    public Batch next() {
      hasNext();
      Batch next = batches.next();
      toPassOver = stride - 1;
      return next;
    }
  }

  /** Copies host batches into engine arrays, on the thread that iterates. */
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
