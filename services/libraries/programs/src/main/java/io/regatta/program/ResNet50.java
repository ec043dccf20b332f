package io.regatta.program;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.data.image.ImageFiles;
import io.regatta.data.image.ImageFolders;
import io.regatta.node.settings.Setting;
import io.regatta.program.block.ResNet50Block;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;

/**
 * ResNet-50 on images in one directory per class ({@link ImageFolders}), with as many classes as directories: the
 * collective quick start of PaddlePaddle's FleetX. Without {@code data.dir} it trains on generated images. Runs on a
 * model thread.
 */
public final class ResNet50 implements TrainingProgram {

  private static final int SHOWN_BATCHES = 5;
  private static final int SIDE_MIN = 32;

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
