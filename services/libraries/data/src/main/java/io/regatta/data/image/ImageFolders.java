package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The images of a directory with one folder per class, named after the class: {@code DIR/train/CLASS/*.jpg} and
 * likewise {@code DIR/test} (or {@code val}, {@code valid}). In a directory {@code DIR/CLASS/*.jpg}, every tenth image
 * of a class, in name order, is for testing. Classes are numbered in name order. Only names are read here. Immutable;
 * any thread may use it.
 *
 * @param classes names by number
 */
public record ImageFolders(List<String> classes, List<Image> train, List<Image> test) {

  private static final Set<String> KINDS = Set.of("jpg", "jpeg", "png", "gif", "bmp");
  private static final List<String> TEST_NAMES = List.of("test", "val", "valid");
  private static final int TEST_EVERY = 10;

  /** An image file and the number of its class. */
  public record Image(Path file, int label) {}

  public ImageFolders {
    classes = List.copyOf(classes);
    train = List.copyOf(train);
    test = List.copyOf(test);
  }

  /**
   * Lists the images of a directory.
   *
   * @throws InvalidInput if it has fewer than two classes with images to train on, or no images to test with
   */
  public static ImageFolders of(Path dir) {
    Path training = dir.resolve("train");
    boolean hasTrainFolder = Files.isDirectory(training);
    List<Path> folders = directories(hasTrainFolder ? training : dir);
    List<String> classes = folders.stream().map(folder -> folder.getFileName().toString()).toList();
    List<Image> train = new ArrayList<>();
    List<Image> test = new ArrayList<>();
    for (int label = 0; label < folders.size(); label++) {
      List<Path> files = images(folders.get(label));
      for (int i = 0; i < files.size(); i++) {
        boolean tests = !hasTrainFolder && i % TEST_EVERY == TEST_EVERY - 1;
        (tests ? test : train).add(new Image(files.get(i), label));
      }
    }
    if (hasTrainFolder) {
      TEST_NAMES.stream().map(dir::resolve).filter(Files::isDirectory).findFirst()
          .ifPresent(tests -> test.addAll(imagesOfKnownClasses(tests, classes)));
    }
    if (train.stream().map(Image::label).distinct().count() < 2 || test.isEmpty()) {
      throw new InvalidInput(dir.toAbsolutePath() + " has " + train.size() + " images in " + folders.size()
          + " classes to train on, and " + test.size() + " to test with; give the directory (--data, data.dir) that holds train and "
          + "test (or val), or the classes: a directory for each, of " + KINDS.stream().sorted().toList()
          + " files; with no data.dir, images are generated");
    }
    return new ImageFolders(classes, train, test);
  }

  private static List<Image> imagesOfKnownClasses(Path dir, List<String> classes) {
    List<Image> images = new ArrayList<>();
    for (Path folder : directories(dir)) {
      int label = classes.indexOf(folder.getFileName().toString());
      if (label < 0) {
        throw new InvalidInput(folder.toAbsolutePath() + ": there is no class " + folder.getFileName()
            + " among the training images; both need the same classes");
      }
      images(folder).forEach(file -> images.add(new Image(file, label)));
    }
    return images;
  }

  private static List<Path> directories(Path dir) {
    return list(dir).stream().filter(Files::isDirectory).toList();
  }

  private static List<Path> images(Path folder) {
    return list(folder).stream().filter(file -> KINDS.contains(ending(file)) && Files.isRegularFile(file)).toList();
  }

  private static String ending(Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** Lists a directory in name order, without hidden entries. */
  private static List<Path> list(Path dir) {
    try (Stream<Path> entries = Files.list(dir)) {
      return entries.filter(entry -> !entry.getFileName().toString().startsWith(".")).sorted().toList();
    } catch (IOException e) {
      throw DataFiles.unreadable(dir, e);
    }
  }
}
