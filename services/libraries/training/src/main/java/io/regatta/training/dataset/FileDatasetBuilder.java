package io.regatta.training.dataset;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.LoaderOptions;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.PipeCommand;
import io.regatta.data.format.MultiSlotFormat;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;

/**
 * The common builder of {@link QueueDataset} and {@link InMemoryDataset}, with PaddlePaddle's method names. Used by one
 * thread.
 *
 * @param <B> the builder itself
 */
public abstract class FileDatasetBuilder<B extends FileDatasetBuilder<B>> {

  private static final int BATCHES_AHEAD = 8;

  List<Path> files = List.of();
  int batchSize = 1;
  int threads = 1;
  int ahead = BATCHES_AHEAD;
  private PipeCommand command;
  private BadLines badLines = new BadLines(BadLines.Policy.FAIL);
  private LineFormat format;
  private BiFunction<List<Path>, BadLines, FileSource<?>> custom;

  FileDatasetBuilder() {}

  abstract B self();

  /** Sets this trainer's files, in order; see {@link DataFiles#shard} and {@link DataFiles#modulo}. */
  public B setFilelist(List<Path> paths) {
    files = List.copyOf(paths);
    return self();
  }

  /** Sets the examples per batch; default 1. */
  public B setBatchSize(int examples) {
    batchSize = examples;
    return self();
  }

  /** Sets the number of threads that read, each its own file; default 1. */
  public B setThread(int number) {
    threads = number;
    return self();
  }

  /** Sets the number of batches read ahead; default 8. */
  public B setQueueNum(int batches) {
    ahead = batches;
    return self();
  }

  /** Sets the shell command that turns a file into lines of the format; default {@code cat}: the file unchanged. */
  public B setPipeCommand(String line) {
    command = PipeCommand.of(line);
    return self();
  }

  /** Sets the slots of MultiSlot lines. This, {@link #setFormat} or {@link #setSource} must be called. */
  public B setUseVar(Slots slots) {
    return setFormat(new MultiSlotFormat(slots));
  }

  /** Sets another format of the lines. */
  public B setFormat(LineFormat lines) {
    format = lines;
    return self();
  }

  /**
   * Sets a source for files that are not lines, for example {@code (files, bad) -> new CsvSource(slots, files, bad)}.
   */
  public B setSource(BiFunction<List<Path>, BadLines, FileSource<?>> reader) {
    custom = reader;
    return self();
  }

  /** Sets the policy for bad lines, which also counts them; default: the first one fails. */
  public B setBadLines(BadLines policy) {
    badLines = policy;
    return self();
  }

  FileSource<?> source(List<Path> paths) {
    if (custom != null) {
      return custom.apply(paths, badLines);
    }
    if (format == null) {
      throw new InvalidInput("the data set has no format for its lines: call setUseVar, setFormat or setSource");
    }
    return new TextSource(format, paths, command, badLines);
  }

  LoaderOptions options(boolean ordered) {
    return LoaderOptions.inOrder(batchSize).readers(threads, ahead, ordered);
  }
}
