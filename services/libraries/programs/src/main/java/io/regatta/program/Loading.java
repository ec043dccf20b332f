package io.regatta.program;

import ai.djl.Device;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotSource;
import io.regatta.data.TextSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.PipeCommand;
import io.regatta.training.Worker;
import io.regatta.training.config.DataConfig;
import io.regatta.training.config.DataConfig.Format;
import io.regatta.training.config.DataConfig.ShardBy;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.dataset.InMemoryDataset;
import io.regatta.training.dataset.QueueDataset;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The conversion of a job, above all its {@code data} section, to one replica's data and training configuration.
 * Stateless; used on the model thread.
 */
final class Loading {

  private Loading() {}

  /** Returns a program's training configuration: the job's optimizer, on the job's device. */
  static DefaultTrainingConfig config(Worker worker, Loss loss) {
    return new DefaultTrainingConfig(loss).optOptimizer(worker.optimizer()).optDevices(new Device[] {worker.device()});
  }

  /** Returns this replica's partition, by position, of training data that all replicas read. */
  static SlotDataset training(Worker worker, SlotSource<?> source) {
    return ownTraining(worker, source).shard(worker.shardIndex(), worker.shardCount());
  }

  /** Returns a data set of training data that belong to this replica, read with the job's options. */
  private static SlotDataset ownTraining(Worker worker, SlotSource<?> source) {
    return new SlotDataset(source, options(worker.job()));
  }

  private static LoaderOptions options(JobConfig job) {
    DataConfig data = job.data();
    return new LoaderOptions(job.batchSize(), data.dropLast(), data.shuffleBuffer(), job.seed(), data.prefetchDepth(),
        data.readerThreads(), data.ordered(), 0, 1);
  }

  /**
   * Returns this replica's partition of training files, assigned and read with the job's options.
   *
   * @param reader from files to examples
   */
  static SlotDataset training(Worker worker, List<Path> files, Function<List<Path>, FileSource<?>> reader) {
    DataConfig data = worker.job().data();
    if (data.shardBy() == ShardBy.POSITION) {
      return training(worker, reader.apply(files));
    }
    List<Path> own = data.shardBy() == ShardBy.FILE ? DataFiles.shard(files, worker.shardIndex(), worker.shardCount())
        : DataFiles.modulo(files, worker.shardIndex(), worker.shardCount());
    if (own.isEmpty()) {
      throw new InvalidInput("data.shard_by is " + data.shardBy().name().toLowerCase(Locale.ROOT) + ", but there are only "
          + files.size() + " training files for " + worker.shardCount() + " workers; use shard_by: position or more files");
    }
    SlotDataset dataset = switch (data.reading()) {
      case STREAM -> ownTraining(worker, reader.apply(own));
      case QUEUE -> new QueueDataset(own, reader, options(worker.job()).readers(data.readerThreads(), data.prefetchDepth(),
          false));
      case IN_MEMORY -> {
        InMemoryDataset loaded = new InMemoryDataset(reader.apply(own), options(worker.job()), data.readerThreads());
        load(loaded, worker.progress());
        if (data.globalShuffle()) {
          loaded.globalShuffle(worker.exampleExchange(), worker.job().seed());
        }
        yield loaded;
      }
    };
    return dataset.filesBy(position -> data.shardBy() == ShardBy.FILE ? DataFiles.shard(files, position, worker.shardCount())
        : DataFiles.modulo(files, position, worker.shardCount()), worker.shardCount());
  }

  private static void load(InMemoryDataset data, Progress progress) {
    data.loadIntoMemory(progress.loading("load"));
    progress.end();
  }

  /** Returns a source of text files, through the job's {@code pipe_command} if it has one. */
  static FileSource<?> text(JobConfig job, LineFormat format, List<Path> files, BadLines badLines) {
    return new TextSource(format, files, PipeCommand.of(job.data().pipeCommand()), badLines);
  }

  /**
   * Returns the format of the job's lines.
   *
   * @param program name for messages
   * @param formats that it reads, its own first
   * @throws InvalidInput if the job has another one
   */
  static Format format(JobConfig job, String program, Format... formats) {
    Format format = job.data().format();
    if (format != Format.AUTO && !List.of(formats).contains(format)) {
      String known = Stream.of(formats).map(Format::label).collect(Collectors.joining(", "));
      throw new InvalidInput("job " + job.job() + ": data.format is " + format.label()
          + (format == Format.MULTISLOT ? " (the default for the output of a data.pipe_command)" : "") + ", but " + program
          + " reads " + known + "; set data.format: " + formats[0].label());
    }
    return format == Format.AUTO ? formats[0] : format;
  }

  /** Refuses keys that have no effect, for programs that read their files without a format or command. */
  static void refuseFormats(JobConfig job, String program) {
    boolean piped = PipeCommand.of(job.data().pipeCommand()) != null;
    if (piped || job.data().format() != Format.AUTO) {
      throw ignored(job, piped ? "data.pipe_command" : "data.format", program, "reads its files without a format or command");
    }
  }

  /** Refuses keys that assign files, for programs whose workers all read the same file. */
  static void refuseShares(JobConfig job, String program) {
    DataConfig data = job.data();
    if (data.shardBy() != ShardBy.POSITION) { // required by the others
      throw ignored(job, "data.shard_by" + (data.reading() == DataConfig.Reading.STREAM ? "" : ", with data.reading")
          + (data.globalShuffle() ? " and data.global_shuffle" : ""), program, "has one file, which every worker reads completely");
    }
  }

  private static InvalidInput ignored(JobConfig job, String key, String program, String why) {
    return new InvalidInput("job " + job.job() + ": " + key + " is set, but " + program + " " + why + "; remove it");
  }

  /** Returns this replica's partition of the test data: in order, all of it, in batches of {@code batchSize}. */
  static SlotDataset test(Worker worker, SlotSource<?> source, int batchSize) {
    return new SlotDataset(source, LoaderOptions.inOrder(batchSize).shard(worker.shardIndex(), worker.shardCount()));
  }

  /** Opens the progress of all epochs over a replica's training data; a resumed run has done some of it. */
  static void beginTraining(Worker worker, FleetTrainer trainer, SlotDataset train) {
    JobConfig job = worker.job();
    long all = train.examples() < 0 ? Long.MAX_VALUE : train.examples() * job.epochs();
    long most = job.maxSteps() > 0 ? job.maxSteps() * job.batchSize() : Long.MAX_VALUE;
    long total = Math.min(all, most);
    worker.progress().begin("train", total == Long.MAX_VALUE ? -1 : total);
    worker.progress().behind(Math.min(total, examples(train, job.batchSize(), trainer.batchesBehind())));
    if (train.examples() < 0) {
      worker.progress().share(() -> train.readOf(job.epochs()));
    }
  }

  /** Returns the examples of the given number of batches since the beginning of the first pass. */
  private static long examples(SlotDataset train, int batchSize, long batches) {
    long each = train.batches();
    return each < 1 ? batches * batchSize
        : batches / each * train.examples() + Math.min(train.examples(), batches % each * batchSize);
  }

  /**
   * Opens the progress of one pass over a replica's training data, unless the run has resumed after it, or has made all
   * steps that {@code max_steps} allows.
   *
   * @param pass from 0
   */
  static void beginPass(Worker worker, FleetTrainer trainer, SlotDataset train, int pass) {
    long before = Math.max(0, train.batches()) * pass;
    long behind = train.batches() < 1 ? 0 : Math.max(0, trainer.batchesBehind() - before);
    boolean enough = worker.job().maxSteps() > 0 && trainer.steps() >= worker.job().maxSteps();
    if (!enough && (behind == 0 || behind < train.batches())) {
      begin(worker, "train", train);
      worker.progress().behind(examples(train, worker.job().batchSize(), behind));
    }
  }

  /** Opens the progress of a phase that is a pass over data. */
  static void begin(Worker worker, String phase, SlotDataset data) {
    worker.progress().begin(phase, data.examples());
    if (data.examples() < 0) {
      worker.progress().share(data::readOfPass);
    }
  }

  /** Returns the policy for files that every replica reads completely: one replica logs bad lines, all count them. */
  static BadLines badLinesOfAll(Worker worker) {
    return worker.badLines(worker.isFirstWorker());
  }

  /** Returns the policy for lines that this replica alone parses. */
  static BadLines badLinesOfOwn(Worker worker) {
    return worker.badLines(true);
  }

  /** Returns the data directory, which the job must name, for programs that read no declared features. */
  static Path directory(JobConfig job) {
    String section = !job.features().isEmpty() ? "features" : !job.labels().isEmpty() ? "labels"
        : job.model().kind() != ModelConfig.Kind.NONE ? "model" : "";
    if (!section.isEmpty()) {
      throw ignored(job, "the section " + section, job.program(), "reads columns of its own");
    }
    return dataDirectory(job);
  }

  /** Returns the data directory, which the job must name. */
  static Path dataDirectory(JobConfig job) {
    if (job.data().dir().isBlank()) {
      throw new InvalidInput("job " + job.job() + ": data.dir is missing; give the directory of the data set with --data "
          + "(data.dir)");
    }
    Path directory = DataFiles.path(job.data().dir());
    if (Files.isRegularFile(directory)) {
      throw new InvalidInput("job " + job.job() + ": " + DataFiles.fullName(directory) + " is a file; give the directory of "
          + "the data set with --data (data.dir)");
    }
    return directory;
  }

  /**
   * Checks, before anything starts, that files can be read.
   *
   * @param names the files as users know them, e.g. {@code adult.data and adult.test}
   * @param source where to get them
   */
  static void present(JobConfig job, String names, String source, Path... files) {
    for (Path file : files) {
      try {
        DataFiles.readable(file);
      } catch (InvalidInput e) {
        String what = Files.isDirectory(file) ? "is a directory" : Files.exists(file) ? "" : "does not exist";
        throw what.isEmpty() ? e : new InvalidInput("job " + job.job() + ": data file " + DataFiles.fullName(file) + " " + what
            + "; give the directory that holds " + names + " with --data (data.dir); " + source, e);
      }
    }
  }

  /**
   * Returns the files named in the job, or else the program's own name, in the data directory; a split file is replaced
   * by its parts.
   */
  static List<Path> files(Path directory, List<String> named, String own) {
    return (named.isEmpty() ? List.of(own) : named).stream().flatMap(name -> DataFiles.parts(directory, name).stream())
        .toList();
  }

  /** Returns the one file named in the job, or else the program's own, in the data directory. */
  static Path file(Path directory, List<String> named, String own) {
    List<Path> files = files(directory, named, own);
    if (files.size() != 1) {
      throw new InvalidInput("this program reads one file, but the job names " + files.size() + ": " + named);
    }
    return files.get(0);
  }
}
