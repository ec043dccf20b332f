package io.regatta.trainer.program;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.DataConfig;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.DataFiles;
import io.regatta.trainer.data.LoaderOptions;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.SlotSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** From the {@code data} section of a job to files and datasets of one replica. Stateless; model thread. */
final class Loading {

  private Loading() {}

  /** This replica's part, by position, of training data that all replicas read. */
  static SlotDataset training(Worker worker, SlotSource<?> source) {
    return ownTraining(worker, source).shard(worker.shardIndex(), worker.shardCount());
  }

  /** Training data that are this replica's own already, read as the job says. */
  static SlotDataset ownTraining(Worker worker, SlotSource<?> source) {
    JobConfig job = worker.job();
    DataConfig data = job.data();
    return new SlotDataset(source, new LoaderOptions(job.batchSize(), data.dropLast(), data.shuffleBuffer(),
        job.seed(), data.prefetchDepth(), data.readerThreads(), data.ordered(), 0, 1));
  }

  /** This replica's part of the test data: in order, all of it, in batches of {@code batchSize}. */
  static SlotDataset test(Worker worker, SlotSource<?> source, int batchSize) {
    return new SlotDataset(source, LoaderOptions.inOrder(batchSize).shard(worker.shardIndex(), worker.shardCount()));
  }

  /** Opens the progress of all epochs over a replica's training data. */
  static void beginTraining(Worker worker, SlotDataset train) {
    JobConfig job = worker.job();
    long all = train.examples() < 0 ? -1 : train.examples() * job.epochs();
    worker.progress().begin("train", job.maxSteps() > 0 ? Math.min(all, job.maxSteps() * job.batchSize()) : all);
  }

  /** For files that every replica reads in whole: one of them says which lines are bad, all count them. */
  static BadLines badLinesOfAll(Worker worker) {
    return new BadLines(worker.job().data().onBadLine(), worker.isFirstWorker());
  }

  /** For lines that this replica alone parses. */
  static BadLines badLinesOfOwn(Worker worker) {
    return new BadLines(worker.job().data().onBadLine());
  }

  /** The data directory, which the job must name. */
  static Path directory(JobConfig job) {
    if (job.data().dir().isBlank()) {
      throw new InvalidInput("job " + job.job() + ": data.dir is missing; give the directory of the data set with --data "
          + "(data.dir)");
    }
    Path directory = Path.of(job.data().dir());
    if (Files.isRegularFile(directory)) {
      throw new InvalidInput("job " + job.job() + ": " + directory.toAbsolutePath() + " is a file; give the directory of "
          + "the data set with --data (data.dir)");
    }
    return directory;
  }

  /**
   * Sees, before anything starts, that files can be read.
   *
   * @param names the files as people know them, e.g. {@code adult.data and adult.test}
   * @param source where they come from
   */
  static void present(JobConfig job, String names, String source, Path... files) {
    for (Path file : files) {
      try {
        DataFiles.readable(file);
      } catch (InvalidInput e) {
        if (Files.exists(file)) {
          throw e;
        }
        throw new InvalidInput("job " + job.job() + ": data file " + file.toAbsolutePath() + " does not exist; give the "
            + "directory that holds " + names + " with --data (data.dir); " + source, e);
      }
    }
  }

  /** Files named in the job, or else the program's own name, in the data directory. */
  static List<Path> files(Path directory, List<String> named, String own) {
    return (named.isEmpty() ? List.of(own) : named).stream().map(directory::resolve).toList();
  }

  /** The one file named in the job, or else the program's own, in the data directory. */
  static Path file(Path directory, List<String> named, String own) {
    List<Path> files = files(directory, named, own);
    if (files.size() != 1) {
      throw new InvalidInput("this program reads one file, but the job names " + files.size() + ": " + named);
    }
    return files.get(0);
  }
}
