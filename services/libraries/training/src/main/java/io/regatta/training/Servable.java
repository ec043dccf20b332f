package io.regatta.training;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.LineFormat;
import io.regatta.data.TextSource;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.image.ImageInput;
import io.regatta.data.image.ImagesToPredict;
import io.regatta.training.config.JobConfig;
import io.regatta.training.evaluation.Evaluation;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link TrainingProgram} whose trained models can be loaded again to predict
 * ({@code Predictor}). It needs a public no-argument constructor. The job that its methods get
 * has only the name, program, settings, features, labels, metrics, model, {@code data.format} and {@code data.columns} of the job
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
   * Returns a source of examples to predict, in the job's format; by default lines of {@link #input}, or images if the
   * program takes them and all files are named so.
   *
   * @param files must exist
   * @param badLines handles lines that are not in the format
   */
  default FileSource<?> examples(JobConfig job, List<Path> files, BadLines badLines) {
    Optional<ImageInput> images = images(job);
    return images.isPresent() && files.stream().allMatch(ImagesToPredict::isImage)
        ? new ImagesToPredict(images.get(), files, badLines) : new TextSource(input(job), files, badLines);
  }

  /** Returns the ways in which a request may give rows of named columns; empty, the default: examples have no names. */
  default Optional<RequestRows> rows(JobConfig job) {
    return Optional.empty();
  }

  /** Returns the way of an image to the floats of an example; empty, the default, if the examples are no images. */
  default Optional<ImageInput> images(JobConfig job) {
    return Optional.empty();
  }

  /** Returns the names of the scores of an example, in their order; an empty list, the default, if they have none. */
  default List<String> outputs(JobConfig job) {
    return List.of();
  }

  /**
   * Returns the scores of a batch, computed from the network's outputs, example by example: one of each, or as many of
   * each. Called on the model thread.
   */
  default float[] scores(JobConfig job, NDArray outputs) {
    return scores(outputs);
  }

  /** Returns the scores of a program that needs no job for them, by default the outputs. */
  default float[] scores(NDArray outputs) {
    return outputs.toFloatArray();
  }

  /**
   * Returns new metrics of the scores against the examples' labels, as the job configures them; empty, the default, if
   * the program has none.
   */
  default Optional<Evaluation> evaluation(JobConfig job) {
    return Optional.empty();
  }
}
