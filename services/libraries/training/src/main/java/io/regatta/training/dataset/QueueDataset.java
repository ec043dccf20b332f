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
 * Streams files from disk, PaddlePaddle's {@code QueueDataset}: each of several threads reads, unpacks and parses files of
 * its own, and batches come in the order in which they are ready. Nothing is shuffled, and at the end of a pass each thread
 * may give one short batch. Owned by one model thread, as every {@link SlotDataset}.
 */
public final class QueueDataset extends SlotDataset {

  private final List<Path> files;
  private final Function<List<Path>, FileSource<?>> reader;
  private final FileSource<?> source;

  /**
   * As the builder makes it, from its parts.
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
   * A new dataset of this one's files that are worker {@code index}'s of {@code count} ({@link DataFiles#shard}).
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

  /** From the beginning of a pass only: within one, the order of batches is nobody's to repeat. */
  @Override
  public void resume(DataCursor place) {
    if (!place.beginsPass()) {
      throw new InvalidInput("a QueueDataset cannot go on within a pass (" + place + "), for its threads read side by side;"
          + " give it the beginning of a pass, or read in order (SlotDataset, InMemoryDataset)");
    }
    super.resume(place);
  }

  @Override
  public boolean resumesWithinPass() {
    return false;
  }

  /** Unknown: each thread's last batch may be short. */
  @Override
  public long batches() {
    return -1;
  }

  @Override
  protected SlotLoader open(DataCursor from, StepTrace timeline) {
    return SlotLoader.openFiles(source, options(), from.pass(), timeline);
  }

  /** See {@link FileDatasetBuilder} for what it is told. */
  public static final class Builder extends FileDatasetBuilder<Builder> {

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /** Sees that the files can be read; nothing is read before the first pass. */
    public QueueDataset build() {
      return new QueueDataset(files, this::source, options(false));
    }
  }
}
