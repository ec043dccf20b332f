package io.regatta.trainer.program;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Setting;
import io.regatta.trainer.JobConfig;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.Worker;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.CriteoGenerator;
import io.regatta.trainer.data.CriteoSource;
import io.regatta.trainer.data.DataFiles;
import io.regatta.trainer.data.GeneratedCriteo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Wide and deep on Criteo-format files, as in PaddlePaddle's FleetX: wide {@code Linear(13 → 1)}, deep embeddings of 26
 * hashed ids with the dense features through relu layers, mean log loss. If the data directory has no data,
 * {@link CriteoGenerator} makes some there first. Runs on a model thread.
 */
public final class WideAndDeep implements TrainingProgram {

  /** How the training data are dealt out to the replicas. */
  public enum ShardBy {
    /** Every replica reads all lines and takes its part of each global batch: the same batches as one worker's. */
    POSITION,
    /** Whole files, each read by one replica only: for data too large to be read by all. */
    FILE
  }

  /** The {@code settings} section of the job. */
  public record WideAndDeepSettings(
      @Setting(value = "10", doc = "Values per id in the deep part.") int embedding,
      @Setting(value = "0.05", doc = "Embeddings start uniform in plus or minus this.") double embeddingBound,
      @Setting(value = "400,400,400", doc = "Widths of the relu layers.") List<Integer> hidden,
      @Setting(value = "1", doc = "Layers start Normal(0, gain / sqrt(fan in)); 1.414 suits relu layers.") double gain,
      @Setting(value = "1000001", doc = "Number of sparse ids that values are hashed to.") long idSpace,
      @Setting(value = "position", doc = "How training data are dealt out: by position in the global batch, or by file.")
      ShardBy shardBy,
      @Setting(value = "200000", unit = "rows", doc = "Training rows to generate if there are no data.") int trainRows,
      @Setting(value = "40000", unit = "rows", doc = "Test rows to generate if there are no data.") int testRows,
      @Setting(value = "4", doc = "Training files to generate if there are no data.") int trainFiles) {}

  /** Training and test files. */
  private record Inputs(List<Path> train, List<Path> test) {}

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    WideAndDeepSettings settings = worker.settings(WideAndDeepSettings.class);
    Inputs files = inputs(worker, settings);
    BadLines badLines = Loading.badLines(job.data());
    boolean byFile = settings.shardBy() == ShardBy.FILE;
    CriteoSource train = new CriteoSource(byFile ? ownFiles(worker, files.train()) : files.train(), settings.idSpace(),
        badLines);
    CriteoSource test = new CriteoSource(files.test(), settings.idSpace(), badLines);
    WideAndDeepBlock block = new WideAndDeepBlock(CriteoSource.LAYOUT, settings.embedding(),
        (float) settings.embeddingBound(), settings.hidden(), settings.gain(), false);
    new BinaryClassification(worker, "wide-and-deep").run(block,
        byFile ? Loading.ownTraining(worker, train) : Loading.training(worker, train), test);
    worker.report("bad_lines", worker.allReduce(new double[] {badLines.skipped()}, ReduceOp.SUM)[0]);
  }

  private static List<Path> ownFiles(Worker worker, List<Path> all) {
    List<Path> own = DataFiles.shard(all, worker.shardIndex(), worker.shardCount());
    if (own.isEmpty()) {
      throw new InvalidInput("settings.shard_by is file, but there are only " + all.size() + " training files for "
          + worker.shardCount() + " workers; use shard_by: position or more files");
    }
    return own;
  }

  private static Inputs inputs(Worker worker, WideAndDeepSettings settings) {
    JobConfig job = worker.job();
    Path directory = Loading.directory(job);
    if (!job.data().files().isEmpty()) {
      return new Inputs(Loading.files(directory, job.data().files(), ""),
          Loading.files(directory, job.data().testFiles(), "test.tsv"));
    }
    if (!CriteoGenerator.owns(directory) && Files.exists(directory.resolve("test.tsv"))) {
      return new Inputs(DataFiles.withPrefix(directory, "train"), List.of(directory.resolve("test.tsv")));
    }
    CriteoGenerator.Size size = new CriteoGenerator.Size(job.seed(), settings.trainRows(), settings.testRows(),
        settings.trainFiles());
    if (worker.isFirstWorker() && GeneratedCriteo.in(directory) == null) {
      worker.progress().line("no data in " + directory + ": generating " + (size.trainRows() + size.testRows())
          + " rows in the Criteo format");
    }
    if (!worker.isFirstWorker()) {
      worker.barrier(); // the first worker makes the data; on another machine it is made again below
    }
    GeneratedCriteo made = CriteoGenerator.ensure(directory, size);
    if (worker.isFirstWorker()) {
      worker.progress().line(String.format(Locale.ROOT, "data in %s, generated: %d training and %d test rows, seed %d;"
          + " best possible test AUC %.4f, log loss %.4f", directory, size.trainRows(), size.testRows(), size.seed(),
          made.bestAuc(), made.bestLogloss()));
      worker.report("best_auc", made.bestAuc());
      worker.barrier();
    }
    return new Inputs(made.train(directory), List.of(made.test(directory)));
  }
}
