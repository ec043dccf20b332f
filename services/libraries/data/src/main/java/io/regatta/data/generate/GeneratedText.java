package io.regatta.data.generate;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Text of a generated Markov chain, whose best possible perplexity is known. Each word has eight successors, the k-th
 * with probability ∝ 1 / k, or ends the line with probability 0.05. The text is described in {@link #NAME}, which is
 * written last. Immutable; any thread may use it.
 *
 * @param version of the chain; another version means other text
 * @param size the requested size
 * @param bestPerplexity of the chain itself on the test file, over windows of {@link #WINDOW} words
 */
public record GeneratedText(int version, Size size, double bestPerplexity) {

  /** Name of the description. */
  public static final String NAME = "text.json";
  /** Words of the windows over which {@link #bestPerplexity} is taken. */
  public static final int WINDOW = 5;

  /** Name of the file that marks the directory as the generator's until the description is there. */
  private static final String MARK = "text.unfinished";
  private static final int VERSION = 1;
  private static final int WORDS = 500;
  private static final int FOLLOWERS = 8;
  private static final double END = 0.05;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The amount of text and its seed. */
  public record Size(long seed, int trainLines, int testLines, int trainFiles) {

    public Size {
      if (trainLines < 1 || testLines < 1 || trainFiles < 1 || trainFiles > trainLines) {
        throw new InvalidInput("generated text needs at least one training line, one test line and one file, not "
            + trainLines + ", " + testLines + " and " + trainFiles);
      }
    }

    /** Returns the size in words, for messages. */
    String words() {
      return trainLines + " training lines in " + trainFiles + (trainFiles == 1 ? " file" : " files") + " and " + testLines
          + " test lines, seed " + seed;
    }
  }

  /**
   * Generates the text in {@code directory}, unless it is there already: {@code train.txt-00000} and so on,
   * {@code test.txt}. No existing file is replaced, except those of an unfinished attempt at the same text.
   *
   * @throws InvalidInput if the directory holds files that were not generated, or other generated text, see
   *     {@link #others}: they are left unchanged
   */
  public static GeneratedText ensure(Path directory, Size size) {
    String others = others(directory, size);
    if (others != null) {
      throw new InvalidInput(others + ". It is not replaced: choose another directory, or delete this one");
    }
    try {
      GeneratedText there = in(directory);
      if (there != null) {
        return there;
      }
      if (!owns(directory)) {
        checkEmpty(directory);
      }
      Files.createDirectories(directory);
      WholeFile.writeAmongOthers(directory.resolve(MARK), part -> JSON.writeValue(part.toFile(), size));
      Chain chain = new Chain(size.seed());
      for (int file = 0; file < size.trainFiles(); file++) {
        int lines = size.trainLines() / size.trainFiles() + (file < size.trainLines() % size.trainFiles() ? 1 : 0);
        chain.write(directory.resolve(String.format(Locale.ROOT, "train.txt-%05d", file)), lines, file);
      }
      GeneratedText made = new GeneratedText(VERSION, size,
          chain.write(directory.resolve("test.txt"), size.testLines(), size.trainFiles()));
      WholeFile.writeAmongOthers(directory.resolve(NAME),
          part -> JSON.writerWithDefaultPrettyPrinter().writeValue(part.toFile(), made));
      Files.deleteIfExists(directory.resolve(MARK));
      return made;
    } catch (IOException e) {
      throw new InvalidInput("cannot write text to " + directory.toAbsolutePath() + ": " + e
          + ". Choose another data directory", e);
    }
  }

  /**
   * Returns in words which other generated text is in {@code directory}, complete or begun, and which is requested;
   * null if there is none. Reads descriptions only.
   */
  public static String others(Path directory, Size size) {
    if (!owns(directory)) {
      return null;
    }
    Size begun = read(directory.resolve(MARK), Size.class); // first: another process may be writing the description
    GeneratedText there = in(directory);
    if (there == null && Files.exists(directory.resolve(NAME))) {
      return directory.toAbsolutePath() + " holds generated text whose description (" + NAME + ") cannot be read";
    }
    Size its = there != null ? there.size : begun;
    if (its == null || its.equals(size) && (there == null || there.version == VERSION)) {
      return null;
    }
    return directory.toAbsolutePath() + " holds " + (there != null ? "" : "the beginning of ") + "generated text of "
        + its.words() + (there == null || there.version == VERSION ? "" : ", of version " + there.version + " instead of " + VERSION)
        + "; requested is one of " + size.words();
  }

  /** Returns true if the files in {@code directory} were generated, complete or not. */
  public static boolean owns(Path directory) {
    return Files.exists(directory.resolve(NAME)) || Files.exists(directory.resolve(MARK));
  }

  /** Returns true if text in {@code directory} was generated, and is not known to be complete. */
  public static boolean isBegun(Path directory) {
    return owns(directory) && in(directory) == null;
  }

  /** Returns the description in {@code directory}, or null if there is no readable one. */
  public static GeneratedText in(Path directory) {
    return read(directory.resolve(NAME), GeneratedText.class);
  }

  private static <T> T read(Path file, Class<T> type) {
    try {
      return Files.isRegularFile(file) ? JSON.readValue(file.toFile(), type) : null;
    } catch (IOException damaged) {
      return null;
    }
  }

  private static void checkEmpty(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> others = files.filter(file -> !file.getFileName().toString().startsWith(".")).toList();
      if (!others.isEmpty()) {
        throw new InvalidInput("text cannot be generated in " + directory.toAbsolutePath() + ", which holds "
            + others.get(0).getFileName() + ": give the directory of train.txt* and test.txt*, or an empty one, with --data "
            + "(data.dir), or name the files in data.files and data.test_files");
      }
    }
  }

  /** The Markov chain of one seed. */
  private static final class Chain {
    private final long seed;
    private final int[][] followers = new int[WORDS][FOLLOWERS];
    private final double[] probabilities = new double[FOLLOWERS];

    Chain(long seed) {
      this.seed = seed;
      SplittableRandom random = new SplittableRandom(seed);
      double sum = 0;
      for (int k = 0; k < FOLLOWERS; k++) {
        probabilities[k] = 1.0 / (k + 1);
        sum += probabilities[k];
      }
      for (int k = 0; k < FOLLOWERS; k++) {
        probabilities[k] /= sum;
      }
      for (int[] of : followers) {
        List<Integer> distinct = new ArrayList<>();
        while (distinct.size() < FOLLOWERS) {
          int word = (int) (WORDS * random.nextDouble() * random.nextDouble()); // some words are frequent, as in any text
          if (!distinct.contains(word)) {
            distinct.add(word);
          }
        }
        for (int k = 0; k < FOLLOWERS; k++) {
          of[k] = distinct.get(k);
        }
      }
    }

    /**
     * Writes the given number of lines from a random stream of their own; returns the chain's perplexity on their
     * windows.
     */
    double write(Path file, int lines, int stream) throws IOException {
      SplittableRandom random = new SplittableRandom(seed * 31 + stream + 1);
      double loss = 0;
      long windows = 0;
      try (BufferedWriter out = Files.newBufferedWriter(file, StandardCharsets.US_ASCII)) {
        for (int line = 0; line < lines; line++) {
          int word = random.nextInt(WORDS);
          StringBuilder text = new StringBuilder().append('w').append(word);
          int known = 2; // <s> and the first word
          for (boolean end = false; !end; known++) {
            end = random.nextDouble() < END;
            int k = end ? 0 : follower(random.nextDouble());
            if (known + 1 >= WINDOW) {
              loss -= Math.log(end ? END : (1 - END) * probabilities[k]);
              windows++;
            }
            if (!end) {
              word = followers[word][k];
              text.append(" w").append(word);
            }
          }
          out.append(text).append('\n');
        }
      }
      return Math.exp(loss / windows);
    }

    private int follower(double at) {
      int k = 0;
      double sum = probabilities[0];
      while (k < FOLLOWERS - 1 && at >= sum) {
        sum += probabilities[++k];
      }
      return k;
    }
  }
}
