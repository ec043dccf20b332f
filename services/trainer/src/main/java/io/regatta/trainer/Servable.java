package io.regatta.trainer;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.LineFormat;

/**
 * What a {@link TrainingProgram} implements as well so that the models which it trains can be loaded again to predict
 * ({@link io.regatta.trainer.serve.Predictor}). Needs a public no-argument constructor. The job that it is given has name,
 * program, settings and {@code data.format} of the one that trained, and nothing else.
 */
public interface Servable {

  /** The network as it was trained, not initialized. */
  Block network(JobConfig job);

  /** How an example is written as a line. Where the format has a label, lines to predict have any valid one. */
  LineFormat input(JobConfig job);

  /** One number for each example, out of what the network gives for a batch; model thread. */
  float[] scores(NDArray outputs);
}
