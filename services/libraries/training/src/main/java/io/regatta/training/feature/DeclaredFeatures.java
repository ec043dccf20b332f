package io.regatta.training.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.LineFormat;
import io.regatta.data.RowFormat;
import io.regatta.data.feature.ColumnLook;
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
import io.regatta.data.feature.TableStatistics.Facts;
import io.regatta.data.file.PipeCommand;
import io.regatta.training.config.DataConfig.Format;
import io.regatta.training.config.JobConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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

  private final JobConfig job;
  private final FeatureTransform transform;
  private final DeclaredLabels labels;
  /** The files whose rows are split by position; null: rows are not. */
  private final AnalyzedFiles analyzed;
  /** Facts of the training rows' columns; empty: rows were not analyzed. */
  private final Optional<Facts> facts;
  /** The files of the statistics from which features are computed, by name. */
  private final Map<String, byte[]> statistics;

  private DeclaredFeatures(JobConfig job, FeatureTransform transform, DeclaredLabels labels, AnalyzedFiles analyzed,
      Optional<Facts> facts, Map<String, byte[]> statistics) {
    this.job = job;
    this.transform = transform;
    this.labels = labels;
    this.analyzed = analyzed;
    this.facts = facts;
    this.statistics = statistics;
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
    boolean computed = !FeatureStatistics.Needs.of(features).isEmpty();
    if (!computed && !byPosition) {
      if (!job.data().statistics().isEmpty()) {
        throw new InvalidInput("job " + job.job() + ": data.statistics has no effect on these features; take it out");
      }
      return new DeclaredFeatures(job, FeatureTransform.of(features, FeatureStatistics.NONE), labels, null, Optional.empty(), Map.of());
    }
    StatisticsFile.Loaded loaded = statistics(job, features);
    return new DeclaredFeatures(job, FeatureTransform.of(features, loaded.statistics().features()), labels,
        byPosition ? new AnalyzedFiles(job, loaded.statistics()) : null, Optional.of(loaded.statistics().facts()), computed ? loaded.files() : Map.of());
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
    if (FeatureStatistics.Needs.of(features).isEmpty() && !parts.needBoundary()) {
      throw new InvalidInput("job " + job.job() + ": its features and its split need no statistics; start the job as it is");
    }
    DeclaredFeatures declared = new DeclaredFeatures(job, FeatureTransform.withoutStatistics(features), labels, null, Optional.empty(),
        Map.of());
    RowLabels ofTraining = labels.rows(false);
    return TableAnalysis.run(declared.rows(ofTraining, true), files, features, ofTraining, parts, threads, distinctLimit, badLines, progress)
        .basedOn(basis(job, features));
  }

  private static RowParts parts(JobConfig job) {
    return new RowParts(job.data().test().part(), job.data().validation().part());
  }

  private static Basis basis(JobConfig job, List<Feature> features) {
    return new Basis(Long.toHexString(FeatureTransform.withoutStatistics(features).digest()), parts(job).toString());
  }

  /** Returns the statistics of a job; those of other declarations would silently give other features. */
  private static StatisticsFile.Loaded statistics(JobConfig job, List<Feature> features) {
    Path directory = job.statisticsDirectory();
    if (!Files.isRegularFile(directory.resolve(StatisticsFile.NAME))) {
      throw new InvalidInput("job " + job.job() + ": statistics of the training rows are missing in " + directory.toAbsolutePath()
          + "; run ./regatta analyze with the job file first, or copy the directory from the machine where it has run");
    }
    StatisticsFile.Loaded loaded = StatisticsFile.read(directory);
    Basis known = loaded.statistics().basis();
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
    return loaded;
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

  /** Returns the facts of the training rows' columns; empty if features are computed without statistics. */
  public Optional<Facts> facts() {
    return facts;
  }

  /**
   * Returns the facts of the columns in the first rows of files. Blocks.
   *
   * @param most rows that are read
   */
  public Facts look(List<Path> files, int most) {
    RowLabels ofTraining = labels.rows(false);
    return ColumnLook.of(rows(ofTraining, true), transform.columns(), ofTraining, files, most);
  }

  /** Returns the features in their order. */
  public List<Feature> declared() {
    return features(job);
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
  public FeatureSource<?> source(List<Path> files, Use use, BadLines badLines) {
    RowLabels ofRows = labels.rows(use != Use.TRAIN);
    RowLabels read = use == Use.PREDICT ? ofRows.toPredict() : ofRows;
    return source(rows(read, use != Use.PREDICT), files, read, split(files, use), badLines,
        use == Use.TRAIN ? labels.labels().get(0).config().negativeRate() : 1);
  }

  /** @param piped true: files go through the job's command */
  private RowFormat<?> rows(RowLabels read, boolean piped) {
    Set<String> needed = new LinkedHashSet<>(transform.columns());
    needed.addAll(read.required());
    Set<String> optional = new LinkedHashSet<>(read.columns());
    optional.removeAll(needed);
    return RowFormats.of(format().label(), NameRange.names("data.columns", job.data().columns()), needed, optional,
        piped ? PipeCommand.of(job.data().pipeCommand()) : null);
  }

  private <R> FeatureSource<R> source(RowFormat<R> rows, List<Path> files, RowLabels read, RowSplit split, BadLines badLines,
      double negativeRate) {
    return new FeatureSource<>(rows, transform, read, split, files, badLines, negativeRate, job.seed());
  }

  private Format format() {
    return job.data().format() == Format.AUTO ? Format.CSV : job.data().format();
  }

  private RowSplit split(List<Path> files, Use use) {
    boolean all = switch (use) {
      case TRAIN -> false;
      case VALIDATION -> !job.data().validation().files().isEmpty();
      case TEST -> job.data().test().share() == 0;
      case PREDICT -> true;
    };
    return all ? RowSplit.ALL : parts(job).split(analyzed == null ? Boundaries.NONE : analyzed.boundaries(files), switch (use) {
      case VALIDATION -> RowSplit.Part.VALIDATION;
      case TEST -> RowSplit.Part.TEST;
      default -> RowSplit.Part.TRAIN;
    });
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

  /** Returns a number, in hexadecimal, that differs if declarations or statistics differ. */
  public String digest() {
    return String.format(Locale.ROOT, "%016x", transform.digest());
  }

  /**
   * Returns the files of the statistics from which features are computed, by name, as they were when they were read; empty if
   * features need none. The arrays must not be changed.
   */
  public Map<String, byte[]> statisticsFiles() {
    return statistics;
  }
}
