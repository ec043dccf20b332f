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
 * What {@link QueueDataset} and {@link InMemoryDataset} are told alike, in PaddlePaddle's words. Used by one thread.
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

  /** This trainer's files, in order; see {@link DataFiles#shard} and {@link DataFiles#modulo}. */
  public B setFilelist(List<Path> paths) {
    files = List.copyOf(paths);
    return self();
  }

  /** Examples per batch; default 1. */
  public B setBatchSize(int examples) {
    batchSize = examples;
    return self();
  }

  /** Threads that read, each its own file; default 1. */
  public B setThread(int number) {
    threads = number;
    return self();
  }

  /** Batches read ahead; default 8. */
  public B setQueueNum(int batches) {
    ahead = batches;
    return self();
  }

  /** Command of the shell that turns a file into lines of the format; default {@code cat}: the file as it is. */
  public B setPipeCommand(String line) {
    command = PipeCommand.of(line);
    return self();
  }

  /** The slots of MultiSlot lines. This, {@link #setFormat} or {@link #setSource} must be called. */
  public B setUseVar(Slots slots) {
    return setFormat(new MultiSlotFormat(slots));
  }

  /** Lines of another format. */
  public B setFormat(LineFormat lines) {
    format = lines;
    return self();
  }

  /** Files that are not lines, for example {@code (files, bad) -> new CsvSource(slots, files, bad)}. */
  public B setSource(BiFunction<List<Path>, BadLines, FileSource<?>> reader) {
    custom = reader;
    return self();
  }

  /** What to do with bad lines, and who counts them; default: the first one fails. */
  public B setBadLines(BadLines policy) {
    badLines = policy;
    return self();
  }

  FileSource<?> source(List<Path> paths) {
    if (custom != null) {
      return custom.apply(paths, badLines);
    }
    if (format == null) {
      throw new InvalidInput("the data set does not know what its lines hold: call setUseVar, setFormat or setSource");
    }
    return new TextSource(format, paths, command, badLines);
  }

  LoaderOptions options(boolean ordered) {
    return LoaderOptions.inOrder(batchSize).readers(threads, ahead, ordered);
  }
}
