package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.feature.TableStatistics;
import io.regatta.data.file.PipeCommand;
import io.regatta.program.label.OutputHead;
import io.regatta.training.Servable;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.DataConfig.Format;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.config.regularization.RegularizationConfig;
import io.regatta.training.config.validation.ValidationConfig;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.feature.DeclaredFeatures.Use;
import io.regatta.training.feature.DeclaredLabels;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.feature.MisleadingColumns;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The program of jobs that declare features, labels and a model: any table of named columns. Runs on a model
 * thread.
 */
public final class TabularProgram implements TrainingProgram, Servable {

  private static final Logger LOG = LoggerFactory.getLogger(TabularProgram.class);
  /** Rows that are looked at before a job without statistics. */
  private static final int LOOK_ROWS = 5000;
  private static final Format[] FORMATS = {Format.CSV, Format.TSV, Format.JSON, Format.PARQUET, Format.LIBSVM, Format.MULTISLOT};

  /** The {@code settings} section of the job: empty, so that any key is refused. */
  record NoSettings() {}

  private record Served(JobConfig job, OutputHead head) {}

  /** The head of the job whose outputs were converted last; null at first. */
  private Served served;

  /** The features of the job for which this program was asked last. */
  private LoadedFeatures loaded;

  private synchronized DeclaredFeatures features(JobConfig job) {
    checkJob(job);
    if (loaded == null || !loaded.isOf(job)) {
      loaded = new LoadedFeatures(job);
    }
    return loaded.get().orElseThrow();
  }

  private static void checkJob(JobConfig job) {
    Loading.format(job, "a job with features", FORMATS);
    if (job.model().kind() == ModelConfig.Kind.NONE) {
      throw new InvalidInput("job " + job.job() + ": model.kind is missing; give the network, such as deepfm");
    }
  }

  @Override
  public Class<? extends Record> settings() {
    return NoSettings.class;
  }

  @Override
  public Block network(JobConfig job) {
    return TabularNetworks.network(job, features(job));
  }

  @Override
  public LineFormat input(JobConfig job) {
    return features(job).lines();
  }

  @Override
  public Optional<RequestRows> rows(JobConfig job) {
    return Optional.of(features(job).requests());
  }

  /** Returns a source of examples whose files may lack the label, which is then NaN. */
  @Override
  public FileSource<?> examples(JobConfig job, List<Path> files, BadLines badLines) {
    return features(job).source(files, Use.PREDICT, badLines);
  }

  @Override
  public List<String> outputs(JobConfig job) {
    return head(job, false).names();
  }

  @Override
  public float[] scores(JobConfig job, NDArray outputs) {
    if (served == null || served.job != job) {
      served = new Served(job, head(job, false));
    }
    return served.head.scores(outputs);
  }

  private static OutputHead head(JobConfig job, boolean training) {
    return TabularNetworks.head(job, labels(job), training);
  }

  private static DeclaredLabels labels(JobConfig job) {
    return DeclaredLabels.of(job, DeclaredFeatures.features(job));
  }

  @Override
  public Optional<Evaluation> evaluation(JobConfig job) {
    return labels(job).itemAt().isPresent() ? Optional.empty() : Optional.of(labels(job).evaluation());
  }

  @Override
  public void check(JobConfig job) {
    DeclaredFeatures features = features(job);
    RegularizationConfig penalties = job.model().regularization();
    if (job.heter().isCut() && (penalties.l2Deep() != 0 || penalties.l2Cross() != 0
        || penalties.l2Linear() + penalties.l2Embedding() != 0 && features.layout().dense() > 0)) {
      throw new InvalidInput("job " + job.job() + ": with heter workers the loss has no "
          + "model.regularization of parameters outside of tables; take it out, or set optimizer.weight_decay");
    }
    boolean couples = job.model().kind() == ModelConfig.Kind.TWO_TOWERS
        || job.labels().values().stream().anyMatch(LabelConfig::couplesExamples);
    if (couples && job.heter().maxBatch() > 0) {
      throw new InvalidInput("job " + job.job() + ": heter.max_batch computes batches of several trainers as one, but the loss depends on "
          + "which examples are in a batch; take heter.max_batch out");
    }
    Inputs files = files(job);
    files.present(job, "the files that data.files and data.test_files name", "without data.test_files, data.test takes a share of the "
        + "training rows");
    if (!job.data().validation().files().isEmpty()) {
      new Inputs(List.of(), Loading.files(Loading.dataDirectory(job), job.data().validation().files(), "")).present(job,
          "the files that data.validation.files names", "without it, data.validation.share takes a share of the training rows");
    }
    TabularNetworks.network(job, features);
    FirstExamples.check(job, files, (of, badLines) -> features.source(of, Use.TRAIN, badLines));
    warn(job, features, files);
  }

  /** Names columns that may mislead, by the facts of the training rows, or by a look at the first of them. */
  private static void warn(JobConfig job, DeclaredFeatures features, Inputs files) {
    Path first = files.train().get(0);
    boolean here = PipeCommand.of(job.data().pipeCommand()) == null && first.getFileSystem() == FileSystems.getDefault();
    if (features.facts().isPresent() || here) {
      MisleadingColumns.named(job, features.facts().orElseGet(() -> features.look(List.of(first), LOOK_ROWS)),
          features.facts().isPresent() ? "training rows" : "first rows of " + first.getFileName()).forEach(LOG::warn);
    }
  }

  /**
   * Computes the statistics of a job's training rows. Blocks.
   *
   * @param distinctLimit most distinct values of a table that are counted
   */
  public static TableStatistics analyze(JobConfig job, int threads, int distinctLimit, BadLines badLines, LoadListener progress) {
    Loading.format(job, "a job with features", FORMATS);
    return DeclaredFeatures.analyze(job, files(job).train(), threads, distinctLimit, badLines, progress);
  }

  private static Inputs files(JobConfig job) {
    String suffix = job.data().format() == Format.AUTO ? Format.CSV.label() : job.data().format().label();
    Path directory = Loading.dataDirectory(job);
    List<Path> train = Loading.files(directory, job.data().files(), "train." + suffix);
    return new Inputs(train, job.data().test().share() > 0 ? train
        : Loading.files(directory, job.data().testFiles(), "test." + suffix));
  }

  /** Returns a source of the validation rows; null if the job has none. */
  private static FileSource<?> validation(JobConfig job, DeclaredFeatures features, Inputs files, BadLines badLines) {
    ValidationConfig validation = job.data().validation();
    return !validation.isOn() ? null : features.source(validation.files().isEmpty() ? files.train()
        : Loading.files(Loading.dataDirectory(job), validation.files(), ""), Use.VALIDATION, badLines);
  }

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    worker.settings(NoSettings.class);
    checkJob(job);
    DeclaredFeatures features = worker.features();
    Inputs files = files(job);
    BadLines badLines = Loading.badLinesOfOwn(worker);
    new BinaryClassification(worker, "tabular", head(job, true), () -> labels(job).evaluation(), validation(job, features, files, badLines))
        .run(TabularNetworks.network(job, features),
        Loading.training(worker, files.train(), train -> features.source(train, Use.TRAIN, badLines)),
        features.source(files.test(), Use.TEST, badLines));
    worker.report("bad_lines", worker.allReduce(new double[] {badLines.skipped()}, ReduceOp.SUM)[0]);
  }
}
