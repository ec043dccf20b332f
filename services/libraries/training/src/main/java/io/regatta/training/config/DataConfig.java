package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.feature.TestPart;
import io.regatta.data.file.PipeCommand;
import io.regatta.node.settings.Setting;
import io.regatta.training.config.validation.ValidationConfig;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The {@code data} section of a job: where the examples are and how they are read. Paths are relative to the working
 * directory.
 */
public record DataConfig(
    @Setting(doc = "Directory of the data set, relative to the working directory, or a URI (file:, s3: with a library on the "
        + "class path).")
    String dir,

    @Setting(doc = "Training files, relative to dir, or URIs; empty: the program's own names.")
    List<String> files,

    @Setting(doc = "Test files, relative to dir, or URIs; empty: the program's own names.")
    List<String> testFiles,

    @Setting(value = "fail", doc = "A line that cannot be read ends the run (file, line and column are named), or is "
        + "skipped and counted.")
    BadLines.Policy onBadLine,

    @Setting(doc = "Command of the shell that turns a file, on its standard input, into lines of format, on its standard "
        + "output, as PaddlePaddle's; it runs once for every file and pass. Empty or cat: files are read as they are.")
    String pipeCommand,

    @Setting(value = "auto", doc = "How an example is written, in training, test and prediction. auto: the program's own format, "
        + "or, behind a pipe_command, multislot.")
    Format format,

    @Setting(doc = "csv, tsv: names of the columns, if the files have no line with them. multislot: names of the slots. C[1-26] stands "
        + "for 26 names. For jobs that declare features.")
    List<String> columns,

    @Setting(doc = "Directory of the statistics of features, relative to dir; empty: statistics-JOB. For jobs that declare features.")
    String statistics,

    @Setting(doc = "A test part of the training files. For jobs that declare features.")
    TestSplit test,

    @Setting(doc = "Columns about which neither analyze nor the start of a job warns, although they have no or one value, a value of its own "
        + "in every row, or give the label away. For jobs that declare features.")
    List<String> allowColumns,
    @Setting(doc = "Rows on which the model is evaluated after each pass, and in between. For jobs that declare features.")
    ValidationConfig validation,

    @Setting(value = "position", doc = "How training data are dealt out to the replicas.")
    ShardBy shardBy,

    @Setting(value = "stream", doc = "How training files are read. queue and in_memory need shard_by: file or file_modulo.")
    Reading reading,

    @Setting(value = "false", doc = "in_memory: examples change places among all replicas of all trainers before the first "
        + "pass, by the job's seed.")
    boolean globalShuffle,

    @Setting(value = "0", unit = "examples", doc = "Examples that are shuffled together; 0: file order.")
    int shuffleBuffer,

    @Setting(value = "8", unit = "batches", doc = "Batches read ahead, per replica; 1 to 1024.")
    int prefetchDepth,

    @Setting(value = "1", doc = "Threads that parse, per replica; 1 to 64.")
    int readerThreads,

    @Setting(value = "false", doc = "Leave out the last batch of an epoch if it is not full.")
    boolean dropLast,

    @Setting(value = "true", doc = "Batches come in the (shuffled) order of the files however many threads read.")
    boolean ordered) {

  /** The format of the files with examples. */
  public enum Format {
    /** The program's own format. */
    AUTO,
    /** Criteo's columns: {@link io.regatta.data.format.CriteoFormat}. */
    CRITEO,
    /** Files whose first row names the columns: {@link io.regatta.data.format.CsvSource}. */
    CSV(Property.NAMES_COLUMNS, Property.TAKES_NAMES),
    /** Lines that are JSON objects, whose keys are the columns: for features that a job declares. */
    JSON(Property.NAMES_COLUMNS, Property.LINES),
    /** {@code label index:value ...}: {@link io.regatta.data.format.LibSvmFormat}. */
    LIBSVM,
    /** PaddlePaddle's: {@link io.regatta.data.format.MultiSlotFormat}. */
    MULTISLOT(Property.TAKES_NAMES),
    /** Files of named columns: {@link io.regatta.data.format.ParquetSource}. */
    PARQUET(Property.NAMES_COLUMNS),
    /** PaddleRec's {@code name:value}: {@link io.regatta.data.format.SlotTextFormat}. */
    SLOTS,
    /** Files whose first line names the columns, with tabs between values, without quotes: for features that a job declares. */
    TSV(Property.NAMES_COLUMNS, Property.TAKES_NAMES);

    /**
     * The properties of a format. LINES: each line of a file that names columns can be read alone. TAKES_NAMES: data.columns may
     * name its columns.
     */
    private enum Property { NAMES_COLUMNS, LINES, TAKES_NAMES }

    private final Set<Property> properties;

    Format(Property... properties) {
      this.properties = Set.of(properties);
    }

    /** Returns true if a file itself names its columns. */
    public boolean namesColumns() {
      return properties.contains(Property.NAMES_COLUMNS);
    }

    /** Returns true if a file of this format is made of lines that can be read alone, so that a command can write them. */
    public boolean hasLines() {
      return !namesColumns() || properties.contains(Property.LINES);
    }

    /** Returns true if a job may name the columns of its files. */
    boolean takesNames() {
      return properties.contains(Property.TAKES_NAMES);
    }

    /** Returns the name as it is written in a job. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The assignment of training data to the replicas. */
  public enum ShardBy {
    /**
     * Every replica reads all records and keeps its share of each global batch: the same batches as with one worker.
     */
    POSITION,
    /** Whole files in contiguous runs, each read by one replica only: PaddlePaddle's {@code get_file_shard}. */
    FILE,
    /** Whole files: those whose number modulo the number of replicas is the replica's number. */
    FILE_MODULO
  }

  /** The way in which training files are read. */
  public enum Reading {
    /** One after another, in order. */
    STREAM,
    /** Each reader thread its own file, nothing shuffled: {@link io.regatta.training.dataset.QueueDataset}. */
    QUEUE,
    /** All at once before training: {@link io.regatta.training.dataset.InMemoryDataset}. */
    IN_MEMORY
  }

  /**
   * The part of the training rows that is kept for the test.
   *
   * @param share from 0 to less than 1
   */
  public record TestSplit(
      @Setting(value = "0", doc = "Share of the training rows that are test rows, and not trained on; 0: none, test_files are.")
      double share,

      @Setting(value = "position", doc = "Which rows these are. position: the last ones; needs statistics. hash: by a hash of file and line.")
      TestPart.By by) {

    public TestSplit {
      new TestPart(share, by); // checks the share
      if (share == 0 && by != TestPart.By.POSITION) {
        throw new InvalidInput("by has no effect without share; give a share, such as 0.2");
      }
    }

    /** Returns the same as the sources of examples take it. */
    public TestPart part() {
      return share == 0 ? TestPart.NONE : new TestPart(share, by);
    }
  }

  public DataConfig {
    files = List.copyOf(files);
    testFiles = List.copyOf(testFiles);
    columns = List.copyOf(columns);
    allowColumns = List.copyOf(allowColumns);
    if (test.share() + validation.share() >= 1) {
      throw new InvalidInput("test.share and validation.share leave no training rows: they add up to "
          + (test.share() + validation.share()) + "; give less");
    }
    if (test.share() > 0 && !testFiles.isEmpty()) {
      throw new InvalidInput("test_files and test both give test rows; take one of them out");
    }
    boolean piped = PipeCommand.of(pipeCommand) != null;
    format = format == Format.AUTO && piped ? Format.MULTISLOT : format;
    if (!columns.isEmpty() && !format.takesNames()) {
      throw new InvalidInput("columns has no effect with format: " + format.label() + "; take it out, or set format: csv, tsv or multislot");
    }
    if (piped && !format.hasLines() && (!format.takesNames() || columns.isEmpty())) {
      throw new InvalidInput("pipe_command writes lines, but format: " + format.label() + " names columns in the file itself; "
          + "leave pipe_command out, " + (format.takesNames() ? "give their names in columns" : "or have it write another format"));
    }
    if (shuffleBuffer < 0) {
      throw new InvalidInput("shuffle_buffer must be at least 0, not " + shuffleBuffer);
    }
    LoaderOptions.checkReading(prefetchDepth, readerThreads);
    if (reading != Reading.STREAM && shardBy == ShardBy.POSITION) {
      throw new InvalidInput("reading: " + reading.name().toLowerCase(Locale.ROOT) + " reads files that are the replica's "
          + "own; set shard_by: file or file_modulo");
    }
    if (globalShuffle && reading != Reading.IN_MEMORY) {
      throw new InvalidInput("global_shuffle needs the examples in memory; set reading: in_memory");
    }
    if (reading == Reading.QUEUE && (shuffleBuffer > 0 || dropLast)) {
      throw new InvalidInput("reading: queue neither shuffles nor counts batches; leave shuffle_buffer and drop_last out, or "
          + "set reading: in_memory");
    }
  }
}
