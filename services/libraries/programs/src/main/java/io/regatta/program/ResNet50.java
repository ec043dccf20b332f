package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LineFormat;
import io.regatta.data.format.NumbersFormat;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.data.image.ImageFiles;
import io.regatta.data.image.ImageFolders;
import io.regatta.data.image.ImageInput;
import io.regatta.node.settings.Setting;
import io.regatta.program.block.ResNet50Block;
import io.regatta.training.Servable;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * ResNet-50 on images in one directory per class ({@link ImageFolders}), with as many classes as directories: the
 * collective quick start of PaddlePaddle's FleetX. Without {@code data.dir} it trains on generated images. Runs on a
 * model thread.
 */
public final class ResNet50 implements TrainingProgram, Servable {

  private static final int SHOWN_BATCHES = 5;
  private static final int SIDE_MIN = 32;
  /** End of the name of the last layer's bias: the network has one linear layer. */
  private static final String LAST_BIAS = "Linear_bias";

  /** The {@code settings} section of the job. */
  public record ResNet50Settings(
      @Setting(value = "224", unit = "pixels", doc = "Sides of the square images that the network takes; at least 32.")
      int imageSize,

      @Setting(value = "false", doc = "Batch normalisation by the batches of all trainers, as if they were one (collective mode with "
          + "a fixed number of trainers, MXNet).")
      boolean syncBatchNorm,

      @Setting(value = "102", doc = "Classes to generate if there are no data; data have as many as directories.")
      int classes,

      @Setting(value = "1020", doc = "Training images to generate if there are no data.")
      int trainImages,

      @Setting(value = "204", doc = "Test images to generate if there are no data.")
      int testImages) {

    public ResNet50Settings {
      if (imageSize < SIDE_MIN) {
        throw new InvalidInput("image_size must be at least " + SIDE_MIN + ", so that one pixel is left after five halvings, not "
            + imageSize);
      }
    }
  }

  @Override
  public Class<? extends Record> settings() {
    return ResNet50Settings.class;
  }

  /** Returns the network for generated images; that of a saved model may have other classes. */
  @Override
  public Block network(JobConfig job) {
    return network(job, job.settingsAs(ResNet50Settings.class).classes());
  }

  @Override
  public Block network(JobConfig job, Map<String, List<Long>> saved) {
    return network(job, saved.entrySet().stream().filter(parameter -> parameter.getKey().endsWith(LAST_BIAS))
        .mapToInt(parameter -> Math.toIntExact(parameter.getValue().get(0))).findFirst()
        .orElseThrow(() -> new InvalidInput("the model has no parameter *" + LAST_BIAS + ", whose size is the number of classes; it was "
            + "trained by another version of ResNet50")));
  }

  /** Returns the network without synchronization of batches: predictions do not normalize by their batch. */
  private static Block network(JobConfig job, int classes) {
    return ResNet50Block.of(job.settingsAs(ResNet50Settings.class).imageSize(), classes, false);
  }

  /** Returns the format of the floats that the network takes, {@code [3, side, side]}. */
  @Override
  public LineFormat input(JobConfig job) {
    int side = job.settingsAs(ResNet50Settings.class).imageSize();
    return new NumbersFormat(3 * side * side);
  }

  @Override
  public Optional<ImageInput> images(JobConfig job) {
    return Optional.of(ImageInput.photo(job.settingsAs(ResNet50Settings.class).imageSize()));
  }

  /** Returns the probability of each class. */
  @Override
  public float[] scores(NDArray outputs) {
    return outputs.softmax(-1).toFloatArray();
  }

  @Override
  public void check(JobConfig job) {
    Loading.refuseFormats(job, "resnet50");
    Loading.refuseShares(job, "resnet50");
    if (!job.data().dir().isBlank()) {
      ImageFolders.of(Loading.directory(job));
    }
  }

  @Override
  public void run(Worker worker) throws Exception {
    ResNet50Settings settings = worker.settings(ResNet50Settings.class);
    JobConfig job = worker.job();
    int side = settings.imageSize();
    ImageClassification training = new ImageClassification(worker, "resnet50", SHOWN_BATCHES);
    if (job.data().dir().isBlank()) {
      int classes = settings.classes();
      training.run(ResNet50Block.of(side, classes, settings.syncBatchNorm()),
          Loading.training(worker, new GeneratedImages("generated-train", job.seed(), 0, settings.trainImages(), classes, 3, side)),
          new GeneratedImages("generated-test", job.seed(), settings.trainImages(), settings.testImages(), classes, 3, side));
      return;
    }
    ImageFolders folders = ImageFolders.of(Loading.directory(job));
    BadLines bad = Loading.badLinesOfOwn(worker);
    worker.progress().line(folders.classes().size() + " classes, " + folders.train().size() + " images to train on, "
        + folders.test().size() + " to test with");
    training.run(ResNet50Block.of(side, folders.classes().size(), settings.syncBatchNorm()),
        Loading.training(worker, new ImageFiles("train", folders.train(), side, true, job.seed(), bad)),
        new ImageFiles("test", folders.test(), side, false, job.seed(), bad));
    worker.report("bad_lines", bad.skipped());
  }
}
