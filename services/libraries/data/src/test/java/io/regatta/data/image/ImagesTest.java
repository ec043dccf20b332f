package io.regatta.data.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.generate.GeneratedImages;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Idx files, folders of images, their transformation, and their assignment to workers. */
class ImagesTest {

  @TempDir
  Path dir;

  private Path idx(String name, int magic, int[] header, byte[] content) throws IOException {
    Path file = dir.resolve(name);
    try (DataOutputStream out = new DataOutputStream(name.endsWith(".gz")
        ? new GZIPOutputStream(Files.newOutputStream(file)) : Files.newOutputStream(file))) {
      out.writeInt(magic);
      for (int h : header) {
        out.writeInt(h);
      }
      out.write(content);
    }
    return file;
  }

  private static SlotBatch whole(SlotSource<?> source, int pass) {
    try (SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder((int) source.size()), pass)) {
      return loader.next();
    }
  }

  @Test
  void idxFilesGivePixelsAndLabels() throws IOException {
    Path images = idx("images.gz", 0x803, new int[] {2, 1, 3}, new byte[] {0, (byte) 255, 51, 1, 2, 3});
    Path labels = idx("labels", 0x801, new int[] {2}, new byte[] {7, 0});
    SlotBatch read = whole(IdxImages.read(images, labels, 10), 0);
    assertThat(Arrays.copyOf(read.dense(), 3)).containsExactly(new float[] {-1, 1, -0.6f}, within(1e-6f));
    assertThat(Arrays.copyOf(read.labels(), 2)).containsExactly(7, 0);
  }

  @Test
  void damagedIdxFilesAreNamed() throws IOException {
    Path labels = idx("labels", 0x801, new int[] {2}, new byte[] {7, 0});
    assertThatThrownBy(() -> IdxImages.read(labels, labels, 10)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("labels begins with 00000801").hasMessageContaining("00000803");
    assertThatThrownBy(() -> IdxImages.read(labels, labels, 7)).hasMessageContaining("label 0 is 7");
    Path cut = idx("cut", 0x803, new int[] {2, 4, 4}, new byte[31]);
    assertThatThrownBy(() -> IdxImages.read(cut, labels, 10)).hasMessageContaining("cut ends before its last image");
    Path three = idx("three", 0x803, new int[] {3, 1, 1}, new byte[3]);
    assertThatThrownBy(() -> IdxImages.read(three, labels, 10)).hasMessageContaining("has 3 images").hasMessageContaining("2 labels");
    Path huge = idx("huge", 0x803, new int[] {Integer.MAX_VALUE, 28, 28}, new byte[3]);
    assertThatThrownBy(() -> IdxImages.read(huge, labels, 10)).hasMessageContaining("damaged");
  }

  private void image(String name, int width, int height, Color left, Color right) throws IOException {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setColor(left);
    graphics.fillRect(0, 0, width / 2, height);
    graphics.setColor(right);
    graphics.fillRect(width / 2, 0, width - width / 2, height);
    graphics.dispose();
    Path file = dir.resolve(name);
    Files.createDirectories(file.getParent());
    ImageIO.write(image, "png", file.toFile());
  }

  @Test
  void foldersAreClassesInTheOrderOfTheirNames() throws IOException {
    for (int i = 0; i < 20; i++) {
      image(String.format("flowers/tulip/%02d.png", i), 9, 8, Color.RED, Color.RED);
      image(String.format("flowers/daisy/%02d.png", i), 20, 30, Color.WHITE, Color.WHITE);
    }
    Files.writeString(dir.resolve("flowers/daisy/readme.txt"), "no image");
    ImageFolders folders = ImageFolders.of(dir.resolve("flowers"));
    assertThat(folders.classes()).containsExactly("daisy", "tulip");
    assertThat(folders.train()).hasSize(36);
    assertThat(folders.test()).extracting(image -> image.file().getFileName().toString())
        .containsExactly("09.png", "19.png", "09.png", "19.png");
    image("parted/train/b/1.png", 8, 8, Color.RED, Color.RED);
    image("parted/train/a/1.png", 8, 8, Color.RED, Color.RED);
    image("parted/val/b/1.png", 8, 8, Color.RED, Color.RED);
    assertThat(ImageFolders.of(dir.resolve("parted")).test()).extracting(ImageFolders.Image::label).containsExactly(1);
    image("parted/val/c/1.png", 8, 8, Color.RED, Color.RED);
    assertThatThrownBy(() -> ImageFolders.of(dir.resolve("parted"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no class c");
    assertThatThrownBy(() -> ImageFolders.of(dir.resolve("parted/val"))).hasMessageContaining("to test with");
  }

  @Test
  void theMiddleOfAnImageIsScaledAndNormalised() throws IOException {
    image("a/1.png", 64, 40, Color.BLACK, Color.WHITE);
    ImageFiles files = new ImageFiles("a", List.of(new ImageFolders.Image(dir.resolve("a/1.png"), 3)), 8, false, 1,
        BadLines.refused());
    SlotBatch read = whole(files, 0);
    float[] black = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};
    float[] white = {(1 - 0.485f) / 0.229f, (1 - 0.456f) / 0.224f, (1 - 0.406f) / 0.225f};
    for (int c = 0; c < 3; c++) {
      for (int y = 0; y < 8; y++) {
        assertThat(read.dense()[c * 64 + y * 8]).isCloseTo(black[c], within(1e-5f));
        assertThat(read.dense()[c * 64 + y * 8 + 7]).isCloseTo(white[c], within(1e-5f));
      }
    }
    assertThat(read.labels()[0]).isEqualTo(3);
  }

  @Test
  void partsAreDrawnWithinTheImageAndMirroredHalfTheTime() {
    SplittableRandom random = new SplittableRandom(1);
    int mirrored = 0;
    for (int i = 0; i < 1000; i++) {
      ImageTransform.Part part = ImageTransform.drawn(100, 60, random);
      assertThat(part.x() + part.width()).isBetween(1, 100);
      assertThat(part.y() + part.height()).isBetween(1, 60);
      assertThat(part.width() * part.height()).isBetween((int) (0.07 * 6000), 6000);
      mirrored += part.mirrored() ? 1 : 0;
    }
    assertThat(mirrored).isBetween(430, 570);
    assertThat(ImageTransform.drawn(1, 1, random).width()).isEqualTo(1);
  }

  @Test
  void whatIsDrawnDependsOnThePassAndNothingElse() throws IOException {
    image("b/1.png", 40, 40, Color.BLACK, Color.WHITE);
    List<ImageFolders.Image> images = List.of(new ImageFolders.Image(dir.resolve("b/1.png"), 0));
    ImageFiles files = new ImageFiles("b", images, 8, true, 1, BadLines.refused());
    assertThat(whole(files, 0).dense()).containsExactly(whole(files, 0).dense()).isNotEqualTo(whole(files, 1).dense());
  }

  @Test
  void aFileThatIsNoImageIsABadLine() throws IOException {
    Path bad = Files.writeString(dir.resolve("bad.jpg"), "no image");
    List<ImageFolders.Image> images = List.of(new ImageFolders.Image(bad, 0));
    assertThatThrownBy(() -> whole(new ImageFiles("x", images, 8, true, 1, new BadLines(BadLines.Policy.FAIL)), 0))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("bad.jpg is not an image").hasMessageContaining("on_bad_line=skip");
    BadLines skipped = new BadLines(BadLines.Policy.SKIP);
    try (SlotLoader loader = SlotLoader.open(new ImageFiles("x", images, 8, true, 1, skipped), LoaderOptions.inOrder(1), 0)) {
      assertThat(loader.hasNext()).isFalse();
    }
    assertThat(skipped.skipped()).isOne();
  }

  /** The parts of 1, 2 and 4 workers with the same global batch, put together, are the same examples in every step. */
  @Test
  void everyNumberOfWorkersSeesTheSameGlobalBatches() {
    GeneratedImages source = new GeneratedImages("g", 3, 0, 48, 3, 1, 4);
    LoaderOptions options = new LoaderOptions(8, true, 48, 5, 2, 2, true, 0, 1);
    for (int pass = 0; pass < 2; pass++) {
      List<Float> one = steps(source, options, 1, pass);
      assertThat(steps(source, options, 2, pass)).isEqualTo(one);
      assertThat(steps(source, options, 4, pass)).isEqualTo(one);
    }
    assertThat(steps(source, options, 1, 1)).isNotEqualTo(steps(source, options, 1, 0));
  }

  /** First pixels of all examples, step by step, worker by worker. */
  private static List<Float> steps(SlotSource<?> source, LoaderOptions options, int workers, int pass) {
    List<SlotLoader> loaders = new ArrayList<>();
    for (int w = 0; w < workers; w++) {
      loaders.add(SlotLoader.open(source, new LoaderOptions(options.batchSize() / workers, true, options.shuffleBuffer(),
          options.seed(), 2, 2, true, w, workers), pass));
    }
    List<Float> pixels = new ArrayList<>();
    while (loaders.stream().allMatch(SlotLoader::hasNext)) {
      for (SlotLoader loader : loaders) {
        SlotBatch batch = loader.next();
        for (int row = 0; row < batch.rows(); row++) {
          pixels.add(batch.dense()[row * batch.layout().dense()]);
        }
      }
    }
    loaders.forEach(SlotLoader::close);
    return pixels;
  }
}
