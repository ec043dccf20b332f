package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.data.BadLines;
import io.regatta.data.LineFormat;
import io.regatta.data.generate.GeneratedTable;
import io.regatta.data.uci.Census;
import io.regatta.data.uci.CensusFormat;
import io.regatta.node.settings.Setting;
import io.regatta.program.block.BinaryHead;
import io.regatta.program.block.WideAndDeepBlock;
import io.regatta.training.Servable;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.EvaluationConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.evaluation.Evaluation;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Wide and deep on the Census Income data, for the question: is the income above 50K? Wide: one weight per category and
 * cross, and a linear function of the six numeric columns. Deep: embeddings and numeric columns through relu layers.
 * Runs on a model thread.
 */
public final class CensusWideAndDeep implements TrainingProgram, Servable {

  /** The {@code settings} section of the job. */
  public record CensusSettings(
      @Setting(value = "8", doc = "Values per id in the deep part.") int embedding,
      @Setting(value = "0.05", doc = "Embeddings start uniform in plus or minus this.") double embeddingBound,
      @Setting(value = "64,32", doc = "Widths of the relu layers.") List<Integer> hidden,
      @Setting(value = "1", doc = "Layers start Normal(0, gain / sqrt(fan in)); 1.414 suits relu layers.") double gain) {}

  @Override
  public Class<? extends Record> settings() {
    return CensusSettings.class;
  }

  @Override
  public void check(JobConfig job) {
    Loading.refuseFormats(job, "census");
    Loading.refuseShares(job, "census");
    Inputs given = given(job);
    if (given != null) {
      given.present(job, "adult.data and adult.test", "they come from the UCI repository, "
          + "https://archive.ics.uci.edu/dataset/2/adult; in an empty directory data are generated");
    }
  }

  private static Inputs given(JobConfig job) {
    return Inputs.table(job, GeneratedTable.Kind.CENSUS, directory -> own(job, directory));
  }

  private static Inputs own(JobConfig job, Path directory) {
    return new Inputs(List.of(Loading.file(directory, job.data().files(), "adult.data")),
        List.of(Loading.file(directory, job.data().testFiles(), "adult.test")));
  }

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    CensusSettings settings = worker.settings(CensusSettings.class);
    BadLines badLines = Loading.badLinesOfAll(worker);
    Inputs inputs = Inputs.tableOrGenerated(worker, GeneratedTable.Kind.CENSUS, given(job), dir -> own(job, dir));
    Census census = Census.read(inputs.train().get(0), inputs.test().get(0), badLines);
    worker.report("bad_lines", badLines.skipped());
    new BinaryClassification(worker, "census", BinaryHead.LOGIT, () -> evaluation(job).orElseThrow())
        .run(network(settings), Loading.training(worker, census.train()), census.test());
  }

  private static WideAndDeepBlock network(CensusSettings settings) {
    return new WideAndDeepBlock(new CensusFormat().layout(), settings.embedding(), (float) settings.embeddingBound(),
        settings.hidden(), settings.gain(), true);
  }

  @Override
  public Block network(JobConfig job) {
    return network(job.settingsAs(CensusSettings.class));
  }

  @Override
  public LineFormat input(JobConfig job) {
    Loading.refuseFormats(job, "census");
    return new CensusFormat();
  }

  @Override
  public float[] scores(NDArray outputs) {
    return BinaryHead.LOGIT.probabilities(outputs);
  }

  @Override
  public Optional<Evaluation> evaluation(JobConfig job) {
    return Optional.of(new Evaluation(EvaluationConfig.DEFAULT, input(job).layout()));
  }
}
