package io.regatta.trainer.program;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.node.settings.Setting;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.Servable;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.DataConfig.Format;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.LineFormat;
import io.regatta.trainer.data.format.LibSvmFormat;
import java.nio.file.Path;

/**
 * Logistic regression on LibSVM files, for any number of features: their weights are rows of a table that are born when an
 * index is first seen. The optimizer for it is FTRL, which keeps the weights of rare features at 0. Runs on a model thread.
 */
public final class LogisticRegression implements TrainingProgram, Servable {

  /** The {@code settings} section of the job. */
  public record LogisticRegressionSettings(
      @Setting(value = "128", doc = "The most features that a line may have.") int features) {}

  @Override
  public Class<? extends Record> settings() {
    return LogisticRegressionSettings.class;
  }

  @Override
  public Block network(JobConfig job) {
    return new LogisticRegressionBlock(input(job).layout());
  }

  @Override
  public LineFormat input(JobConfig job) {
    Loading.format(job, "logistic-regression", Format.LIBSVM);
    return new LibSvmFormat(job.settingsAs(LogisticRegressionSettings.class).features());
  }

  @Override
  public float[] scores(NDArray outputs) {
    return BinaryHead.LOGIT.probabilities(outputs);
  }

  @Override
  public void check(JobConfig job) {
    input(job);
    Inputs files = inputs(job);
    files.present(job, "LibSVM files (a9a and a9a.t, or those that data.files and data.test_files name)", "many data sets are at "
        + "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html");
    FirstExamples.check(job, files, (of, badLines) -> examples(job, of, badLines));
  }

  private static Inputs inputs(JobConfig job) {
    Path directory = Loading.directory(job);
    return new Inputs(Loading.files(directory, job.data().files(), "a9a"),
        Loading.files(directory, job.data().testFiles(), "a9a.t"));
  }

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    worker.settings(LogisticRegressionSettings.class);
    LineFormat format = input(job);
    Inputs files = inputs(job);
    BadLines badLines = Loading.badLinesOfOwn(worker);
    new BinaryClassification(worker, "logistic-regression", BinaryHead.LOGIT).run(
        new LogisticRegressionBlock(format.layout()),
        Loading.training(worker, files.train(), train -> Loading.text(job, format, train, badLines)),
        Loading.text(job, format, files.test(), badLines));
    worker.report("bad_lines", worker.allReduce(new double[] {badLines.skipped()}, ReduceOp.SUM)[0]);
  }
}
