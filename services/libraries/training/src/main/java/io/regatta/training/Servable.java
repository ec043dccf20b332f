package io.regatta.training;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.TextSource;
import io.regatta.training.config.JobConfig;
import java.nio.file.Path;
import java.util.List;

/**
 * What a {@link TrainingProgram} implements as well so that the models which it trains can be loaded again to predict
 * ({@link io.regatta.predictor.Predictor}). Needs a public no-argument constructor. The job that it is given has name,
 * program, settings and {@code data.format} of the one that trained, and nothing else.
 */
public interface Servable {

  /** The network as it was trained, not initialized. */
  Block network(JobConfig job);

  /**
   * How an example is written as a line, by which the service takes it. Where the format has a label, lines to
   * predict have any valid one.
   */
  LineFormat input(JobConfig job);

  /**
   * Files of examples to predict, in the format that the job says; by default lines of {@link #input}.
   *
   * @param files must exist
   * @param badLines what becomes of those that are not in the format
   */
  default FileSource<?> examples(JobConfig job, List<Path> files, BadLines badLines) {
    return new TextSource(input(job), files, badLines);
  }

  /** One number for each example, out of what the network gives for a batch; model thread. */
  float[] scores(NDArray outputs);
}
