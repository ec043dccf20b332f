package io.regatta.data.generate;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.file.UnfinishedFile;
import io.regatta.core.file.WholeFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/**
 * The writer of the files of one generated data set, see {@link CriteoGenerator}. Its threads generate blocks of rows
 * and write files in parallel, and end with {@link #make}. Used by one thread, once.
 */
final class CriteoFiles {

  private static final int BLOCK_ROWS = 10_000;
  private static final int THREADS_MAX = 8;
  private static final int TEST_STREAM = -1;
  private static final long REPORT_MILLIS = 100;
  private static final String TEST = "test.tsv";
  private static final Pattern TRAIN = Pattern.compile("train-\\d{3,}\\.tsv");

  /** A block of rows as text, with the true probabilities and labels. */
  private record Block(byte[] text, double[] probabilities, boolean[] labels) {}

  /** The true probabilities and labels of the rows of the test file. */
  private record Truth(double[] probabilities, boolean[] labels) {

    void put(int row, Block block) {
      System.arraycopy(block.probabilities(), 0, probabilities, row, block.probabilities().length);
      System.arraycopy(block.labels(), 0, labels, row, block.labels().length);
    }
  }

  private final CriteoTeacher teacher;
  private final CriteoGenerator.Size size;
  private final Path directory;
  private final ExecutorService makers;
  private final ExecutorService writers;
  private final int ahead;
  private final AtomicLong rows = new AtomicLong();

  CriteoFiles(Path directory, CriteoGenerator.Size size) {
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

  private static String trainName(int file) {
    return String.format(Locale.ROOT, "train-%03d.tsv", file);
  }

  /** Returns true if a file of some generated data set has this name. */
  static boolean isName(String name) {
    return name.equals(TEST) || TRAIN.matcher(name).matches();
  }

  /** Returns the probabilities with which the labels of the test file were drawn, row by row. */
  static double[] testProbabilities(CriteoGenerator.Size size) {
    CriteoTeacher teacher = new CriteoTeacher(size.seed());
    double[] all = new double[size.testRows()];
    for (int row = 0; row < all.length; row += BLOCK_ROWS) {
      int rows = Math.min(BLOCK_ROWS, all.length - row);
      System.arraycopy(block(teacher, size.seed(), TEST_STREAM, row / BLOCK_ROWS, rows).probabilities(), 0, all, row, rows);
    }
    return all;
  }

  /** Writes the missing files, and then their description; see {@link CriteoGenerator#ensure}. */
  GeneratedCriteo make(UnfinishedCriteo known, LongConsumer made) throws IOException {
    try {
      Truth truth = new Truth(new double[size.testRows()], new boolean[size.testRows()]);
      List<Future<GeneratedCriteo.File>> writing = new ArrayList<>();
      for (int file = 0; file < size.trainFiles(); file++) {
        int from = (int) ((long) size.trainRows() * file / size.trainFiles());
        int to = (int) ((long) size.trainRows() * (file + 1) / size.trainFiles());
        String name = trainName(file);
        int stream = file;
        writing.add(writers.submit(() -> write(name, known.intact(directory, name), stream, to - from, null)));
      }
      writing.add(writers.submit(() -> write(TEST, known.intact(directory, TEST), TEST_STREAM, size.testRows(), truth)));
      List<GeneratedCriteo.File> files = new ArrayList<>();
      for (Future<GeneratedCriteo.File> file : writing) {
        files.add(await(file, made));
        new UnfinishedCriteo(CriteoGenerator.VERSION, size, files).write(directory);
      }
      GeneratedCriteo all = describe(truth, files);
      WholeFile.writeAmongOthers(directory.resolve(GeneratedCriteo.NAME), all::write);
      return all;
    } finally {
      end();
    }
  }

  /** Ends the threads. Each writer removes its unfinished file. */
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
      if (Thread.currentThread().isInterrupted()) { // get() on a finished file does not throw
        throw interrupted();
      }
      try {
        GeneratedCriteo.File done = file.get(REPORT_MILLIS, TimeUnit.MILLISECONDS);
        made.accept(rows.get());
        return done;
      } catch (TimeoutException e) {
        made.accept(rows.get());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw interrupted();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof IOException io) {
          throw io;
        }
        throw new IllegalStateException("generating data in " + directory + " failed", e.getCause());
      }
    }
  }

  private Cancelled interrupted() {
    return new Cancelled("interrupted while generating data in " + directory.toAbsolutePath() + "; start it again to "
        + "generate the missing files");
  }

  /**
   * Writes a file, block by block, while later blocks are generated.
   *
   * @param there the file, if it is already whole; else null
   * @param truth receives the true probabilities and labels; null if they are not needed. Rows of a whole file are then
   *     generated for it, but not written
   */
  private GeneratedCriteo.File write(String name, GeneratedCriteo.File there, int stream, int all, Truth truth)
      throws IOException, InterruptedException, ExecutionException {
    if (there != null && truth == null) {
      rows.addAndGet(all);
      return there;
    }
    if (there != null) {
      blocks(stream, all, truth, OutputStream.nullOutputStream());
      return there;
    }
    MessageDigest digest = GeneratedCriteo.sha256();
    try (UnfinishedFile unfinished = UnfinishedFile.of(directory.resolve(name))) {
      blocks(stream, all, truth, new DigestOutputStream(unfinished.stream(), digest));
      return new GeneratedCriteo.File(name, unfinished.publish(), HexFormat.of().formatHex(digest.digest()));
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

  /**
   * Appends eight hexadecimal digits as in Criteo's data; in every fourth slot the third most frequent value is empty.
   */
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
    return new GeneratedCriteo(CriteoGenerator.VERSION, size, ExactAuc.of(probabilities, labels), logloss / labels.length,
        (double) positives / labels.length, files);
  }
}
