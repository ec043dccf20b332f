package io.regatta.training.feature;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.LineFormat;
import io.regatta.data.RowFormat;
import io.regatta.data.feature.FeatureSource;
import io.regatta.data.feature.JsonLineFormat;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.feature.RowFormats;
import io.regatta.data.feature.RowLabels;
import io.regatta.data.feature.RowParts;
import io.regatta.data.feature.RowSplit;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.StatisticsFile;
import io.regatta.data.feature.TableAnalysis;
import io.regatta.data.feature.TableStatistics;
import io.regatta.data.feature.TableStatistics.Basis;
import io.regatta.data.feature.TestPart;
import io.regatta.data.file.PipeCommand;
import io.regatta.training.Worker;
import io.regatta.training.config.DataConfig;
import io.regatta.training.config.DataConfig.Format;
import io.regatta.training.config.DataConfig.TestSplit;
import io.regatta.training.config.JobConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The features and labels that a job declares, and sources of examples of them. Training, predictions and the service
 * use it, so that they compute the same floats and ids of a row. Immutable; any thread.
 */
public final class DeclaredFeatures {

  /** The purpose for which files are read. */
  public enum Use {
    /** Training rows. */
    TRAIN,
    /** Validation rows. */
    VALIDATION,
    /** Test rows. */
    TEST,
    /** Rows to predict: all rows of the files, which may lack labels. */
    PREDICT
  }

  /** Bits of the digest that a double holds. */
  private static final int UNUSED_BITS = 12;

  private final JobConfig job;
  private final FeatureTransform transform;
  private final DeclaredLabels labels;
  private final Boundaries boundaries;

  private DeclaredFeatures(JobConfig job, FeatureTransform transform, DeclaredLabels labels, Boundaries boundaries) {
    this.job = job;
    this.transform = transform;
    this.labels = labels;
    this.boundaries = boundaries;
  }

  /**
   * Returns the features of a job.
   *
   * @throws InvalidInput if the job declares no features or no label, the declarations contradict each other, or
   *     statistics that they need are missing
   */
  public static DeclaredFeatures of(JobConfig job) {
    List<Feature> features = FeatureDeclarations.features(job.features());
    DeclaredLabels labels = DeclaredLabels.of(job, features);
    boolean byPosition = parts(job).needBoundary();
    TableStatistics statistics = job.featuresNeedStatistics() || byPosition ? statistics(job, features) : null;
    if (statistics == null && !job.data().statistics().isEmpty()) {
      throw new InvalidInput("job " + job.job() + ": data.statistics has no effect on these features; take it out");
    }
    return new DeclaredFeatures(job, FeatureTransform.of(features, statistics == null ? FeatureStatistics.NONE : statistics.features()),
        labels, byPosition ? statistics.boundaries() : Boundaries.NONE);
  }

  /**
   * Computes the statistics of the training rows of files. Blocks.
   *
   * @param distinctLimit most distinct values of a table that are counted
   * @throws InvalidInput if the declarations contradict each other, need no statistics, or a file cannot be read
   */
  public static TableStatistics analyze(JobConfig job, List<Path> files, int threads, int distinctLimit, BadLines badLines,
      LoadListener progress) {
    List<Feature> features = FeatureDeclarations.features(job.features());
    DeclaredLabels labels = DeclaredLabels.of(job, features);
    RowParts parts = parts(job);
    if (!job.featuresNeedStatistics() && !parts.needBoundary()) {
      throw new InvalidInput("job " + job.job() + ": its features and its split need no statistics; start the job as it is");
    }
    DeclaredFeatures declared = new DeclaredFeatures(job, FeatureTransform.withoutStatistics(features), labels, Boundaries.NONE);
    RowLabels ofTraining = labels.rows(false);
    return TableAnalysis.run(declared.rows(ofTraining), files, features, ofTraining, parts, threads, distinctLimit, badLines, progress)
        .basedOn(basis(job, features));
  }

  private static RowParts parts(JobConfig job) {
    TestSplit test = job.data().test();
    return new RowParts(part(test.share(), test.by()), part(job.data().validation().share(), job.data().validation().by()));
  }

  private static TestPart part(double share, TestPart.By by) {
    return share == 0 ? TestPart.NONE : new TestPart(share, by);
  }

  private static Basis basis(JobConfig job, List<Feature> features) {
    return new Basis(Long.toHexString(FeatureTransform.withoutStatistics(features).digest()), parts(job).toString());
  }

  /** Returns the statistics of a job; those of other declarations would silently give other features. */
  private static TableStatistics statistics(JobConfig job, List<Feature> features) {
    Path directory = job.statisticsDirectory();
    if (!Files.isRegularFile(directory.resolve(StatisticsFile.NAME))) {
      throw new InvalidInput("job " + job.job() + ": statistics of the training rows are missing in " + directory.toAbsolutePath()
          + "; run ./regatta analyze with the job file first, or copy the directory from the machine where it has run");
    }
    TableStatistics statistics = StatisticsFile.read(directory);
    Basis known = statistics.basis();
    Basis own = basis(job, features);
    if (!known.features().isEmpty() && !known.features().equals(own.features())) {
      throw new InvalidInput("job " + job.job() + ": the statistics in " + directory + " were computed for other features; run ./regatta "
          + "analyze --overwrite with the job file");
    }
    if (!own.test().isEmpty() && !known.equals(Basis.UNKNOWN) && !known.test().equals(own.test())) {
      throw new InvalidInput("job " + job.job() + ": the statistics in " + directory + " were computed "
          + (known.test().isEmpty() ? "with no test rows left out" : "with test rows by " + known.test()) + ", but data.test is "
          + own.test() + "; run ./regatta analyze --overwrite with the job file");
    }
    return statistics;
  }

  /** Returns the features that a job declares, in order, without what statistics say about them. */
  public static List<Feature> features(JobConfig job) {
    return FeatureDeclarations.features(job.features());
  }

  /** Returns the widths of an example with the keys of metrics. */
  public Layout layout() {
    return new Layout(transform.dense(), transform.widths(), transform.valued(), transform.emptyIds(), labels.rows(true).width());
  }

  /** Returns the transformation of a row into an example. */
  public FeatureTransform transform() {
    return transform;
  }

  /** Returns the labels. */
  public DeclaredLabels labels() {
    return labels;
  }

  /**
   * Returns a source of examples of files in the job's format; {@code data.format: auto} is csv.
   *
   * @param files must exist; a split into training and test rows applies to all of them
   * @param use its rows
   * @param badLines handles rows that cannot be read
   */
  public FileSource<?> source(List<Path> files, Use use, BadLines badLines) {
    RowLabels ofRows = labels.rows(use != Use.TRAIN);
    RowLabels read = use == Use.PREDICT ? ofRows.toPredict() : ofRows;
    return source(rows(read), files, read, split(use), badLines, use == Use.TRAIN ? labels.labels().get(0).config().negativeRate() : 1);
  }

  private RowFormat<?> rows(RowLabels read) {
    Set<String> needed = new LinkedHashSet<>(transform.columns());
    needed.addAll(read.required());
    Set<String> optional = new LinkedHashSet<>(read.columns());
    optional.removeAll(needed);
    return RowFormats.of(format().label(), NameRange.names("data.columns", job.data().columns()), needed, optional);
  }

  private <R> FileSource<R> source(RowFormat<R> rows, List<Path> files, RowLabels read, RowSplit split, BadLines badLines,
      double negativeRate) {
    return new FeatureSource<>(rows, transform, read, split, files, badLines, negativeRate, job.seed());
  }

  private Format format() {
    DataConfig data = job.data();
    if (PipeCommand.of(data.pipeCommand()) != null) {
      throw new InvalidInput("job " + job.job() + ": data.pipe_command is set, but files with declared features are read "
          + "as they are; remove it");
    }
    return data.format() == Format.AUTO ? Format.CSV : data.format();
  }

  private RowSplit split(Use use) {
    return switch (use) {
      case TRAIN -> parts(job).split(boundaries, RowSplit.Part.TRAIN);
      case VALIDATION -> job.data().validation().files().isEmpty() ? parts(job).split(boundaries, RowSplit.Part.VALIDATION) : RowSplit.ALL;
      case TEST -> job.data().test().share() > 0 ? parts(job).split(boundaries, RowSplit.Part.TEST) : RowSplit.ALL;
      case PREDICT -> RowSplit.ALL;
    };
  }

  /** Returns the format of lines to predict: JSON objects, whose keys are the columns; labels may be missing. */
  public LineFormat lines() {
    return new JsonLineFormat(transform, labels.rows(true));
  }

  /** Returns the ways in which a request gives rows of the declared columns; labels may be missing. */
  public RequestRows requests() {
    return new RequestRows(FeatureDeclarations.features(job.features()), transform, labels.rows(true),
        NameRange.names("data.columns", job.data().columns()));
  }

  /**
   * Checks that all workers have the same features; all must call it.
   *
   * @throws InvalidInput if they differ
   */
  public void requireSame(Worker worker) {
    double[] mine = {transform.digest() >>> UNUSED_BITS};
    double least = worker.allReduce(mine, ReduceOp.MIN)[0];
    double most = worker.allReduce(mine, ReduceOp.MAX)[0];
    if (least != most) {
      throw new InvalidInput(String.format("job %s: features differ among the trainers: trainer %d has %013x, others from %013x to "
          + "%013x; give all the same job file, and copy the directory of data.statistics to all machines", job.job(), worker.rank(), (long) mine[0], (long) least, (long) most));
    }
  }
}
