package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/**
 * Writes a Criteo-shaped data set whose labels come from {@link CriteoTeacher}: {@code train-000.tsv} and so on,
 * {@code test.tsv}, and at last {@code criteo.json}, which says what was made, the best possible AUC on the test file,
 * and the files' checksums. Files depend on the seed and the numbers of rows alone: rows are made in blocks of 10 000,
 * side by side, each block from a random stream of its own, and so are files written. Everything is written under another name
 * first, so that a description exists only of complete files; until then a file {@code criteo.unfinished} tells that the directory
 * is the generator's, and which files are whole. Used by one thread; several processes may make the same data at once.
 */
public final class CriteoGenerator {

  private static final int VERSION = 1;
  private static final int BLOCK_ROWS = 10_000;
  private static final int THREADS_MAX = 8;
  private static final int TEST_STREAM = -1;
  private static final long REPORT_MILLIS = 100;

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

  /** What is known of the rows of the test file beside their text. */
  private record Truth(double[] probabilities, boolean[] labels) {

    void put(int row, Block block) {
      System.arraycopy(block.probabilities(), 0, probabilities, row, block.probabilities().length);
      System.arraycopy(block.labels(), 0, labels, row, block.labels().length);
    }
  }

  private final CriteoTeacher teacher;
  private final Size size;
  private final Path directory;
  private final ExecutorService makers;
  private final ExecutorService writers;
  private final int ahead;
  private final AtomicLong rows = new AtomicLong();

  private CriteoGenerator(Path directory, Size size) {
    this.directory = directory;
    this.size = size;
    teacher = new CriteoTeacher(size.seed());
    int threads = Math.min(THREADS_MAX, Runtime.getRuntime().availableProcessors());
    int files = Math.min(threads, size.trainFiles() + 1);
    makers = threads("regatta-generate", threads);
    writers = threads("regatta-generate-file", files);
    ahead = threads / files + 1;
  }

  private static ExecutorService threads(String name, int number) {
    return Executors.newFixedThreadPool(number, task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    });
  }

  /** As {@link #ensure(Path, Size, LongConsumer)}, without a word. */
  public static GeneratedCriteo ensure(Path directory, Size size) {
    return ensure(directory, size, rows -> {});
  }

  /**
   * Makes the data in {@code directory}, unless exactly these are there already, complete and unchanged. Files that an earlier
   * attempt has finished are kept. Blocks; interrupted, it stops and leaves them.
   *
   * @param made hears a few times a second, on the calling thread, how many rows are there, of the training and the test rows
   * @throws InvalidInput if the directory holds files of somebody else, which are left as they are
   */
  public static GeneratedCriteo ensure(Path directory, Size size, LongConsumer made) {
    try {
      GeneratedCriteo there = GeneratedCriteo.in(directory);
      boolean same = there != null && there.version() == VERSION && there.size().equals(size);
      if (same && there.intact(directory)) {
        return there;
      }
      checkOurs(directory);
      Files.createDirectories(directory);
      Unfinished before = same ? new Unfinished(VERSION, size, there.files()) : Unfinished.in(directory);
      Unfinished known = before != null && before.version() == VERSION && size.equals(before.size()) ? before
          : new Unfinished(VERSION, size, List.of());
      known.write(directory);
      Files.deleteIfExists(directory.resolve(GeneratedCriteo.NAME));
      GeneratedCriteo all = new CriteoGenerator(directory, size).make(known, made);
      Files.deleteIfExists(directory.resolve(Unfinished.NAME));
      return all;
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
    return Files.exists(directory.resolve(GeneratedCriteo.NAME)) || Files.exists(directory.resolve(Unfinished.NAME));
  }

  /** The probabilities with which the labels of the test file were drawn, row by row. */
  public static double[] testProbabilities(Size size) {
    CriteoTeacher teacher = new CriteoTeacher(size.seed());
    double[] all = new double[size.testRows()];
    for (int row = 0; row < all.length; row += BLOCK_ROWS) {
      int rows = Math.min(BLOCK_ROWS, all.length - row);
      System.arraycopy(block(teacher, size.seed(), TEST_STREAM, row / BLOCK_ROWS, rows).probabilities(), 0, all, row, rows);
    }
    return all;
  }

  private GeneratedCriteo make(Unfinished known, LongConsumer made) throws IOException {
    try {
      Truth truth = new Truth(new double[size.testRows()], new boolean[size.testRows()]);
      List<Future<GeneratedCriteo.File>> writing = new ArrayList<>();
      for (int file = 0; file < size.trainFiles(); file++) {
        int from = (int) ((long) size.trainRows() * file / size.trainFiles());
        int to = (int) ((long) size.trainRows() * (file + 1) / size.trainFiles());
        String name = String.format(Locale.ROOT, "train-%03d.tsv", file);
        int stream = file;
        writing.add(writers.submit(() -> write(name, known.intact(directory, name), stream, to - from, null)));
      }
      String name = "test.tsv";
      writing.add(writers.submit(() -> write(name, known.intact(directory, name), TEST_STREAM, size.testRows(), truth)));
      List<GeneratedCriteo.File> files = new ArrayList<>();
      for (Future<GeneratedCriteo.File> file : writing) {
        files.add(await(file, made));
        new Unfinished(VERSION, size, files).write(directory);
      }
      GeneratedCriteo all = describe(truth, files);
      WholeFile.writeAmongOthers(directory.resolve(GeneratedCriteo.NAME), all::write);
      return all;
    } finally {
      end();
    }
  }

  /** What was being written is removed by whoever wrote it. */
  private void end() {
    writers.shutdownNow();
    makers.shutdownNow();
    boolean interrupted = Thread.interrupted();
    try {
      writers.awaitTermination(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private GeneratedCriteo.File await(Future<GeneratedCriteo.File> file, LongConsumer made) throws IOException {
    while (true) {
      try {
        GeneratedCriteo.File done = file.get(REPORT_MILLIS, TimeUnit.MILLISECONDS);
        made.accept(rows.get());
        return done;
      } catch (TimeoutException e) {
        made.accept(rows.get());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Cancelled("interrupted while generating data in " + directory.toAbsolutePath() + "; start it again and it goes "
            + "on with the files that are missing");
      } catch (ExecutionException e) {
        if (e.getCause() instanceof IOException io) {
          throw io;
        }
        throw new IllegalStateException("generating data in " + directory + " failed", e.getCause());
      }
    }
  }

  /**
   * Writes a file, block by block, while later blocks are being made.
   *
   * @param there the file, if it is whole already; else null
   * @param truth takes what is known of the rows; null: nobody asks. A file that is there is made again for it, and not written
   */
  private GeneratedCriteo.File write(String name, GeneratedCriteo.File there, int stream, int all, Truth truth)
      throws IOException, InterruptedException, ExecutionException {
    if (there != null && truth == null) {
      rows.addAndGet(all);
      return there;
    }
    Path unfinished = unfinished(directory, name);
    MessageDigest digest = GeneratedCriteo.sha256();
    try {
      try (OutputStream out = there != null ? OutputStream.nullOutputStream()
          : new DigestOutputStream(Files.newOutputStream(unfinished), digest)) {
        blocks(stream, all, truth, out);
      }
      if (there != null) {
        return there;
      }
      long bytes = Files.size(unfinished);
      Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      return new GeneratedCriteo.File(name, bytes, HexFormat.of().formatHex(digest.digest()));
    } finally {
      Files.deleteIfExists(unfinished); // only there if something failed
    }
  }

  private void blocks(int stream, int all, Truth truth, OutputStream out) throws IOException, InterruptedException,
      ExecutionException {
    ArrayDeque<Future<Block>> making = new ArrayDeque<>();
    int asked = 0;
    for (int row = 0; row < all; row += BLOCK_ROWS) {
      for (; asked < all && making.size() < ahead; asked += BLOCK_ROWS) {
        int from = asked;
        making.add(makers.submit(() -> block(teacher, size.seed(), stream, from / BLOCK_ROWS, Math.min(BLOCK_ROWS, all - from))));
      }
      Block block = making.remove().get();
      out.write(block.text());
      if (truth != null) {
        truth.put(row, block);
      }
      rows.addAndGet(block.labels().length);
    }
  }

  private static Block block(CriteoTeacher teacher, long seed, int stream, int number, int rows) {
    SplittableRandom random = new SplittableRandom(
        CriteoTeacher.mix(CriteoTeacher.mix(CriteoTeacher.mix(seed) + stream) + number));
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

  private GeneratedCriteo describe(Truth truth, List<GeneratedCriteo.File> files) {
    double[] probabilities = truth.probabilities();
    boolean[] labels = truth.labels();
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

  /** What has been made so far, as the mark in the directory tells. */
  private record Unfinished(int version, Size size, List<GeneratedCriteo.File> files) {

    static final String NAME = "criteo.unfinished";

    /** Null if there is none that can be read. */
    static Unfinished in(Path directory) {
      try {
        Path mark = directory.resolve(NAME);
        return Files.isRegularFile(mark) ? GeneratedCriteo.JSON.readValue(mark.toFile(), Unfinished.class) : null;
      } catch (IOException damaged) {
        return null;
      }
    }

    void write(Path directory) throws IOException {
      WholeFile.writeAmongOthers(directory.resolve(NAME), part -> GeneratedCriteo.JSON.writeValue(part.toFile(), this));
    }

    /** The file of this name if it is there as it was made, else null. */
    GeneratedCriteo.File intact(Path directory, String name) throws IOException {
      for (GeneratedCriteo.File file : files) {
        if (file.name().equals(name) && file.intact(directory)) {
          return file;
        }
      }
      return null;
    }
  }
}
