package io.regatta.training;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.TextSource;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.image.ImageInput;
import io.regatta.training.config.JobConfig;
import io.regatta.training.evaluation.Evaluation;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link TrainingProgram} whose trained models can be loaded again to predict
 * ({@code Predictor}). It needs a public no-argument constructor. The job that its methods get
 * has only the name, program, settings, features, labels, model, {@code data.format} and {@code data.columns} of the job
 * that trained.
 */
public interface Servable {

  /** Returns the network as it was trained, without parameter values. */
  Block network(JobConfig job);

  /**
   * Returns the network of a saved model; by default that of the job.
   *
   * @param saved shape of each saved parameter, by name
   */
  default Block network(JobConfig job, Map<String, List<Long>> saved) {
    return network(job);
  }

  /**
   * Returns the format in which the service accepts an example as a line. If the format has a label, lines to predict
   * may have any valid one.
   */
  LineFormat input(JobConfig job);

  /**
   * Returns a source of examples to predict, in the job's format; by default lines of {@link #input}.
   *
   * @param files must exist
   * @param badLines handles lines that are not in the format
   */
  default FileSource<?> examples(JobConfig job, List<Path> files, BadLines badLines) {
    return new TextSource(input(job), files, badLines);
  }

  /** Returns the ways in which a request may give rows of named columns; empty, the default: examples have no names. */
  default Optional<RequestRows> rows(JobConfig job) {
    return Optional.empty();
  }

  /** Returns the way of an image to the floats of an example; empty, the default, if the examples are no images. */
  default Optional<ImageInput> images(JobConfig job) {
    return Optional.empty();
  }

  /**
   * Returns the scores of a batch, computed from the network's outputs, example by example: one of each, or as many of
   * each. Called on the model thread.
   */
  float[] scores(NDArray outputs);

  /**
   * Returns new metrics of the scores against the examples' labels, as the job configures them; empty, the default, if
   * the program has none. The scores are then probabilities, and the labels 0 or 1.
   */
  default Optional<Evaluation> evaluation(JobConfig job) {
    return Optional.empty();
  }
}
