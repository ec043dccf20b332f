package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Writes a Criteo-shaped data set whose labels come from {@link CriteoTeacher}: {@code train-000.tsv} and so on,
 * {@code test.tsv}, and at last {@code criteo.json}, which says what was made, the best possible AUC on the test file,
 * and the files' checksums. Files depend on the seed and the numbers of rows alone: rows are made in blocks of 10 000,
 * side by side, each block from a random stream of its own. Everything is written under another name first, so that
 * a description exists only of complete files; until then a file {@code criteo.unfinished} tells that the directory is
 * the generator's. Used by one thread; several processes may make the same data at once.
 */
public final class CriteoGenerator {

  private static final String MARK = "criteo.unfinished";
  private static final int VERSION = 1;
  private static final int BLOCK_ROWS = 10_000;
  private static final int THREADS_MAX = 8;
  private static final int TEST_STREAM = -1;

  /**
   * What to make.
   *
   * @param seed of teacher and examples
   * @param trainRows rows of all training files
   * @param testRows rows of the test file
   * @param trainFiles number of training files
   */
  public record Size(long seed, int trainRows, int testRows, int trainFiles) {

    public Size {
      if (trainRows < 1 || testRows < 1 || trainFiles < 1 || trainFiles > trainRows) {
        throw new InvalidInput("generated data needs at least one training row, one test row and one file, not "
            + trainRows + ", " + testRows + " and " + trainFiles);
      }
    }

    /** 200 000 rows in four files for training and 40 000 for testing. */
    public static Size standard(long seed) {
      return new Size(seed, 200_000, 40_000, 4);
    }
  }

  /** A block of rows as text, with the true probabilities and labels. */
  private record Block(byte[] text, double[] probabilities, boolean[] labels) {}

  private final CriteoTeacher teacher;
  private final Size size;

  private CriteoGenerator(Size size) {
    this.size = size;
    this.teacher = new CriteoTeacher(size.seed());
  }

  /**
   * Makes the data in {@code directory}, unless exactly these are there already, complete and unchanged.
   *
   * @throws InvalidInput if the directory holds files of somebody else, which are left as they are
   */
  public static GeneratedCriteo ensure(Path directory, Size size) {
    try {
      GeneratedCriteo there = GeneratedCriteo.in(directory);
      if (there != null && there.version() == VERSION && there.size().equals(size) && there.intact(directory)) {
        return there;
      }
      checkOurs(directory);
      Files.createDirectories(directory);
      Files.write(directory.resolve(MARK), new byte[0]);
      Files.deleteIfExists(directory.resolve(GeneratedCriteo.NAME));
      GeneratedCriteo made = new CriteoGenerator(size).make(directory);
      Files.deleteIfExists(directory.resolve(MARK));
      return made;
    } catch (IOException e) {
      throw new InvalidInput("cannot write data to " + directory.toAbsolutePath() + ": " + e
          + ". Choose another data directory", e);
    }
  }

  private static void checkOurs(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    List<String> names;
    try (Stream<Path> files = Files.list(directory)) {
      names = files.map(file -> file.getFileName().toString()).filter(name -> !name.startsWith(".")).sorted().toList();
    }
    if (!names.isEmpty() && !owns(directory)) { // in this order: another process may have begun to generate here
      throw new InvalidInput("no data are generated in " + directory.toAbsolutePath() + ", which holds "
          + names.get(0) + (names.size() > 1 ? " and " + (names.size() - 1) + " more" : "") + ": give the directory of a "
          + "complete data set, or an empty one, with --data (data.dir)");
    }
  }

  /** Whether the files in {@code directory} are the generator's, complete or not. */
  public static boolean owns(Path directory) {
    return Files.exists(directory.resolve(GeneratedCriteo.NAME)) || Files.exists(directory.resolve(MARK));
  }

  /** The probabilities with which the labels of the test file were drawn, row by row. */
  public static double[] testProbabilities(Size size) {
    CriteoGenerator generator = new CriteoGenerator(size);
    double[] all = new double[size.testRows()];
    for (int row = 0; row < all.length; row += BLOCK_ROWS) {
      int rows = Math.min(BLOCK_ROWS, all.length - row);
      System.arraycopy(generator.block(TEST_STREAM, row / BLOCK_ROWS, rows).probabilities(), 0, all, row, rows);
    }
    return all;
  }

  private GeneratedCriteo make(Path directory) throws IOException {
    int threads = Math.min(THREADS_MAX, Runtime.getRuntime().availableProcessors());
    ExecutorService pool = Executors.newFixedThreadPool(threads, task -> {
      Thread thread = new Thread(task, "regatta-generate");
      thread.setDaemon(true);
      return thread;
    });
    try {
      List<GeneratedCriteo.File> files = new ArrayList<>();
      for (int file = 0; file < size.trainFiles(); file++) {
        int from = (int) ((long) size.trainRows() * file / size.trainFiles());
        int to = (int) ((long) size.trainRows() * (file + 1) / size.trainFiles());
        files.add(write(directory, String.format("train-%03d.tsv", file), file, to - from, threads, pool, null));
      }
      List<Block> test = new ArrayList<>();
      files.add(write(directory, "test.tsv", TEST_STREAM, size.testRows(), threads, pool, test));
      GeneratedCriteo made = describe(test, files);
      Path unfinished = unfinished(directory, GeneratedCriteo.NAME);
      try {
        made.write(unfinished);
        Files.move(unfinished, directory.resolve(GeneratedCriteo.NAME), StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(unfinished);
      }
      return made;
    } finally {
      pool.shutdownNow();
    }
  }

  /** Writes a file, {@code threads} blocks at a time; keeps the blocks in {@code kept} if that is not null. */
  private GeneratedCriteo.File write(Path directory, String name, int stream, int rows, int threads, ExecutorService pool,
      List<Block> kept) throws IOException {
    Path unfinished = unfinished(directory, name);
    try {
      MessageDigest digest = GeneratedCriteo.sha256();
      writeRows(unfinished, digest, stream, rows, threads, pool, kept);
      long bytes = Files.size(unfinished);
      Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      return new GeneratedCriteo.File(name, bytes, HexFormat.of().formatHex(digest.digest()));
    } finally {
      Files.deleteIfExists(unfinished); // only there if something failed
    }
  }

  private void writeRows(Path file, MessageDigest digest, int stream, int rows, int threads, ExecutorService pool,
      List<Block> kept) throws IOException {
    try (OutputStream out = new DigestOutputStream(Files.newOutputStream(file), digest)) {
      for (int first = 0; first < rows; first += threads * BLOCK_ROWS) {
        List<Callable<Block>> wave = new ArrayList<>();
        for (int row = first; row < Math.min(rows, first + threads * BLOCK_ROWS); row += BLOCK_ROWS) {
          int from = row;
          wave.add(() -> block(stream, from / BLOCK_ROWS, Math.min(BLOCK_ROWS, rows - from)));
        }
        for (Future<Block> made : pool.invokeAll(wave)) {
          out.write(made.get().text());
          if (kept != null) {
            kept.add(made.get());
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("interrupted while generating data");
    } catch (ExecutionException e) {
      throw new IllegalStateException("generating " + file + " failed", e.getCause());
    }
  }

  private Block block(int stream, int number, int rows) {
    SplittableRandom random = new SplittableRandom(
        CriteoTeacher.mix(CriteoTeacher.mix(CriteoTeacher.mix(size.seed()) + stream) + number));
    StringBuilder text = new StringBuilder(rows * 280);
    double[] probabilities = new double[rows];
    boolean[] labels = new boolean[rows];
    CriteoTeacher.Example example = new CriteoTeacher.Example();
    for (int row = 0; row < rows; row++) {
      probabilities[row] = teacher.probability(teacher.draw(random, example));
      labels[row] = random.nextDouble() < probabilities[row];
      text.append(labels[row] ? '1' : '0');
      for (int i = 0; i < CriteoTeacher.DENSE; i++) {
        text.append('\t');
        if (example.dense()[i] >= 0) {
          text.append(i == 1 ? example.dense()[i] - 3 : example.dense()[i]); // I2 counts from -3, as in Criteo's data
        }
      }
      for (int slot = 0; slot < CriteoTeacher.SLOTS; slot++) {
        text.append('\t');
        appendValue(text, slot, example.ranks()[slot]);
      }
      text.append('\n');
    }
    return new Block(text.toString().getBytes(StandardCharsets.US_ASCII), probabilities, labels);
  }

  /** Eight hexadecimal digits as in Criteo's data; in every fourth slot the third most frequent value is empty. */
  private static void appendValue(StringBuilder text, int slot, int rank) {
    if (slot % 4 == 3 && rank == 2) {
      return;
    }
    int word = (int) CriteoTeacher.mix(((long) slot << 32) + rank);
    for (int shift = 28; shift >= 0; shift -= 4) {
      text.append(Character.forDigit((word >>> shift) & 15, 16));
    }
  }

  private GeneratedCriteo describe(List<Block> test, List<GeneratedCriteo.File> files) {
    double[] probabilities = test.stream().flatMapToDouble(block -> Arrays.stream(block.probabilities()))
        .toArray();
    boolean[] labels = new boolean[probabilities.length];
    int at = 0;
    for (Block block : test) {
      System.arraycopy(block.labels(), 0, labels, at, block.labels().length);
      at += block.labels().length;
    }
    double logloss = 0;
    int positives = 0;
    for (int i = 0; i < labels.length; i++) {
      logloss -= Math.log(labels[i] ? probabilities[i] : 1 - probabilities[i]);
      positives += labels[i] ? 1 : 0;
    }
    return new GeneratedCriteo(VERSION, size, ExactAuc.of(probabilities, labels), logloss / labels.length,
        (double) positives / labels.length, files);
  }

  /** A name of its own for every writer, with the permissions of an ordinary file. */
  private static Path unfinished(Path directory, String name) {
    return directory.resolve("." + name + "." + UUID.randomUUID() + ".unfinished");
  }
}
