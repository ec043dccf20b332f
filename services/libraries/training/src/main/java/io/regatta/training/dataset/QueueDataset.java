package io.regatta.training.dataset;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotLoader;
import io.regatta.data.file.DataFiles;
import io.regatta.training.trace.StepTrace;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * A data set that streams files from disk: PaddlePaddle's {@code QueueDataset}. Each of several threads reads,
 * decompresses and parses files of its own, and batches are delivered in the order in which they are ready. Nothing is
 * shuffled, and at the end of a pass each thread may deliver one short batch. Owned by one model thread, as every
 * {@link SlotDataset}.
 */
public final class QueueDataset extends SlotDataset {

  private final List<Path> files;
  private final Function<List<Path>, FileSource<?>> reader;
  private final FileSource<?> source;

  /**
   * Creates a data set without the builder.
   *
   * @param reader from files to examples
   * @param options not ordered, not shuffled, of one worker
   */
  public QueueDataset(List<Path> files, Function<List<Path>, FileSource<?>> reader, LoaderOptions options) {
    this(files, reader, reader.apply(files), options);
  }

  private QueueDataset(List<Path> files, Function<List<Path>, FileSource<?>> reader, FileSource<?> source,
      LoaderOptions options) {
    super(source, options);
    this.files = files;
    this.reader = reader;
    this.source = source;
  }

  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns a new dataset of those files that belong to worker {@code index} of {@code count}
   * ({@link DataFiles#shard}).
   *
   * @throws InvalidInput if there are fewer files than workers
   */
  @Override
  public QueueDataset shard(int index, int count) {
    if (files.size() < count) {
      throw new InvalidInput("there are only " + files.size() + " files for " + count + " workers that read whole files; "
          + "cut them into more (regatta prepare split)");
    }
    return new QueueDataset(DataFiles.shard(files, index, count), reader, options());
  }

  /** Resumes at the beginning of a pass only: within a pass the order of batches cannot be repeated. */
  @Override
  public void resume(DataCursor place) {
    if (!place.beginsPass()) {
      throw new InvalidInput("a QueueDataset cannot resume within a pass (" + place + "), because its threads read in parallel;"
          + " give it the beginning of a pass, or read in order (SlotDataset, InMemoryDataset)");
    }
    super.resume(place);
  }

  @Override
  public boolean resumesWithinPass() {
    return false;
  }

  /** Returns -1, for unknown: each thread's last batch may be short. */
  @Override
  public long batches() {
    return -1;
  }

  @Override
  protected SlotLoader open(DataCursor from, StepTrace timeline) {
    return SlotLoader.openFiles(source, options(), from.pass(), timeline);
  }

  /** Builder; see {@link FileDatasetBuilder} for its properties. */
  public static final class Builder extends FileDatasetBuilder<Builder> {

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /** Checks that the files can be read and creates the data set; nothing is read before the first pass. */
    public QueueDataset build() {
      return new QueueDataset(files, this::source, options(false));
    }
  }
}
