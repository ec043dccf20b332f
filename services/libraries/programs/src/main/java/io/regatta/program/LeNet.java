package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.pooling.Pool;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.format.NumbersFormat;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.data.image.IdxImages;
import io.regatta.data.image.ImageInput;
import io.regatta.node.settings.Setting;
import io.regatta.training.Servable;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * LeNet-5 (LeCun et al., "Gradient-based learning applied to document recognition", 1998) as in PaddlePaddle's vision
 * models. It trains on the idx files of MNIST in {@code data.dir}, compressed or not; without {@code data.dir} on
 * generated images. Runs on a model thread.
 */
public final class LeNet implements TrainingProgram, Servable {

  private static final int SIDE = 28;
  private static final int CLASSES = 10;
  private static final int SHOWN_BATCHES = 100;
  private static final String TRAIN = "train";
  private static final String TEST = "t10k";

  /** The {@code settings} section of the job. */
  public record LeNetSettings(
      @Setting(value = "0", doc = "Share of the values before the last layer that are dropped in training.")
      double dropout,

      @Setting(value = "2000", doc = "Training images to generate if there are no data.")
      int trainImages,

      @Setting(value = "500", doc = "Test images to generate if there are no data.")
      int testImages) {

    public LeNetSettings {
      if (!(dropout >= 0 && dropout < 1)) {
        throw new InvalidInput("dropout must be at least 0 and less than 1, not " + dropout);
      }
    }
  }

  @Override
  public Class<? extends Record> settings() {
    return LeNetSettings.class;
  }

  @Override
  public Block network(JobConfig job) {
    return network(job.settingsAs(LeNetSettings.class).dropout());
  }

  /** Returns the format of pixels as the network takes them, row by row: each {@code value / 127.5 - 1}. */
  @Override
  public LineFormat input(JobConfig job) {
    return new NumbersFormat(SIDE * SIDE);
  }

  @Override
  public Optional<ImageInput> images(JobConfig job) {
    return Optional.of(ImageInput.grey(SIDE));
  }

  /** Returns the probability of each class. */
  @Override
  public float[] scores(NDArray outputs) {
    return outputs.softmax(-1).toFloatArray();
  }

  @Override
  public void check(JobConfig job) {
    Loading.refuseFormats(job, "lenet");
    Loading.refuseShares(job, "lenet");
    if (!job.data().dir().isBlank()) {
      Loading.present(job, "the four files of MNIST, compressed or not", "http://yann.lecun.com/exdb/mnist had them, mirrors have; "
          + "without data.dir, images are generated", images(job, TRAIN), labels(job, TRAIN), images(job, TEST), labels(job, TEST));
    }
  }

  @Override
  public void run(Worker worker) throws Exception {
    LeNetSettings settings = worker.settings(LeNetSettings.class);
    if (worker.job().data().dir().isBlank()) {
      worker.progress().line("no data.dir (--data): training on " + settings.trainImages() + " generated images, which are easier than digits");
    }
    new ImageClassification(worker, "lenet", SHOWN_BATCHES).run(network(settings.dropout()),
        Loading.training(worker, train(worker.job(), settings)), test(worker.job(), settings));
  }

  private static SlotSource<?> train(JobConfig job, LeNetSettings settings) {
    return job.data().dir().isBlank() ? generated("generated-train", job, 0, settings.trainImages()) : read(job, TRAIN);
  }

  private static SlotSource<?> test(JobConfig job, LeNetSettings settings) {
    return job.data().dir().isBlank()
        ? generated("generated-test", job, settings.trainImages(), settings.testImages()) : read(job, TEST);
  }

  private static SlotSource<?> generated(String name, JobConfig job, int first, int count) {
    return new GeneratedImages(name, job.seed(), first, count, CLASSES, 1, SIDE);
  }

  private static SlotSource<?> read(JobConfig job, String part) {
    IdxImages images = IdxImages.read(images(job, part), labels(job, part), CLASSES);
    if (images.rows() != SIDE || images.columns() != SIDE) {
      throw new InvalidInput(images(job, part) + " has images of " + images.rows() + " x " + images.columns()
          + " pixels; this network takes " + SIDE + " x " + SIDE);
    }
    return images;
  }

  private static Path images(JobConfig job, String part) {
    return file(job, part + "-images-idx3-ubyte");
  }

  private static Path labels(JobConfig job, String part) {
    return file(job, part + "-labels-idx1-ubyte");
  }

  /** Returns the file, or its compressed form if it does not exist. */
  private static Path file(JobConfig job, String name) {
    Path plain = Loading.directory(job).resolve(name);
    return Files.exists(plain) ? plain : plain.resolveSibling(name + ".gz");
  }

  private static SequentialBlock network(double dropout) {
    SequentialBlock block = new SequentialBlock()
        .add(new LambdaBlock(in -> new NDList(in.singletonOrThrow().reshape(-1, 1, SIDE, SIDE)), "image"))
        .add(Conv2d.builder().setKernelShape(new Shape(3, 3)).optPadding(new Shape(1, 1)).setFilters(6).build())
        .add(Activation::relu)
        .add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2)))
        .add(Conv2d.builder().setKernelShape(new Shape(5, 5)).setFilters(16).build())
        .add(Activation::relu)
        .add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2)))
        .add(Blocks.batchFlattenBlock())
        .add(Linear.builder().setUnits(120).build())
        .add(Activation::relu)
        .add(Linear.builder().setUnits(84).build())
        .add(Activation::relu);
    if (dropout > 0) {
      block.add(Dropout.builder().optRate((float) dropout).build());
    }
    return block.add(Linear.builder().setUnits(CLASSES).build());
  }
}
