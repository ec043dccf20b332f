package io.regatta.data.text;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.LoadLog;
import io.regatta.data.file.DataFiles;
import io.regatta.protocol.vertx.SystemClock;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2LongOpenHashMap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The words of a text and their numbers, from 0, as PaddlePaddle's {@code imikolov} counts them. It holds the words
 * with at least a minimum count, most frequent first, ties in the order of their characters. The words {@code <s>} and
 * {@code <e>} count once for every line, and {@code <unk>}, the last, stands for all others. White space separates
 * words. Immutable; any thread may use it.
 */
public final class Dictionary {

  /** The word before every line. */
  public static final String BEGIN = "<s>";
  /** The word after every line. */
  public static final String END = "<e>";
  /** The word for all words that are not in the dictionary. */
  public static final String UNKNOWN = "<unk>";

  private static final long MEGABYTE = 1_000_000;

  private final List<String> words;
  private final long[] counts;
  private final Object2IntOpenHashMap<String> numbers;

  private Dictionary(List<String> words, long[] counts) {
    this.words = List.copyOf(words);
    this.counts = counts;
    numbers = new Object2IntOpenHashMap<>(words.size());
    for (int i = 0; i < words.size(); i++) {
      numbers.put(words.get(i), i);
    }
    numbers.defaultReturnValue(numbers.getInt(UNKNOWN));
  }

  /**
   * Builds the dictionary of these files, which are read once.
   *
   * @param minCount words with fewer occurrences are {@value #UNKNOWN}
   */
  public static Dictionary of(List<Path> files, int minCount) {
    return of(files, minCount, 1, new LoadLog(SystemClock.get(), "text for the dictionary"));
  }

  /**
   * Builds the dictionary of these files, which are read once.
   *
   * @param threads that count; the dictionary does not depend on their number
   * @param listener called every megabyte of decompressed text
   */
  public static Dictionary of(List<Path> files, int minCount, int threads, LoadListener listener) {
    Object2LongOpenHashMap<String> counted;
    long lines = 0;
    long bytes = 0;
    long size = files.stream().mapToLong(DataFiles::size).sum();
    try (LineCursor cursor = new LineCursor(files); WordCounts counts = new WordCounts(threads, Dictionary::words)) {
      for (Line line = cursor.next(); line != null; line = cursor.next()) {
        lines++;
        long before = bytes / MEGABYTE;
        bytes += line.to() - line.from() + 1;
        if (bytes / MEGABYTE > before) {
          listener.loaded(Math.min(bytes, size), size);
        }
        counts.add(line);
      }
      counted = counts.total();
    }
    listener.loaded(size, size);
    if (lines == 0) {
      throw new InvalidInput("no text in " + files + ": a dictionary needs at least one line");
    }
    long all = counted.values().longStream().sum();
    counted.put(BEGIN, lines);
    counted.put(END, lines);
    counted.removeLong(UNKNOWN);
    List<Map.Entry<String, Long>> kept = new ArrayList<>();
    counted.object2LongEntrySet().fastForEach(e -> {
      if (e.getLongValue() >= minCount || e.getKey().equals(BEGIN) || e.getKey().equals(END)) {
        kept.add(Map.entry(e.getKey(), e.getLongValue()));
      }
    });
    kept.sort(Comparator.comparing((Map.Entry<String, Long> e) -> -e.getValue()).thenComparing(Map.Entry::getKey));
    long[] counts = new long[kept.size() + 1];
    List<String> words = new ArrayList<>(kept.size() + 1);
    long known = 0;
    for (Map.Entry<String, Long> e : kept) {
      counts[words.size()] = e.getValue();
      words.add(e.getKey());
      known += e.getValue();
    }
    words.add(UNKNOWN);
    counts[kept.size()] = all + 2 * lines - known;
    return new Dictionary(words, counts);
  }

  /** Reads a file of {@link #write}. */
  public static Dictionary read(Path file) {
    List<String> words = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(DataFiles.readable(file), StandardCharsets.UTF_8)) {
        int tab = line.indexOf('\t');
        try {
          counts.add(Long.parseLong(line.substring(tab + 1)));
          words.add(line.substring(0, tab));
        } catch (RuntimeException e) {
          throw new InvalidInput(file + ", line " + (words.size() + 1) + ": "
              + BadLines.expected("a word, a tab and its count", line)
              + "; make the dictionary with regatta prepare dictionary", e);
        }
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
    if (!words.containsAll(List.of(BEGIN, END, UNKNOWN)) || words.stream().distinct().count() < words.size()) {
      throw new InvalidInput(file + " is not a dictionary: it must hold " + BEGIN + ", " + END + ", " + UNKNOWN
          + " and every word once; make it with regatta prepare dictionary");
    }
    return new Dictionary(words, counts.stream().mapToLong(Long::longValue).toArray());
  }

  /** Writes a line for each word, in the order of their numbers: the word, a tab, its count. */
  public void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>(size());
    for (int i = 0; i < size(); i++) {
      lines.add(words.get(i) + "\t" + counts[i]);
    }
    Files.write(file, lines, StandardCharsets.UTF_8);
  }

  /** Returns the number of words, {@link #BEGIN}, {@link #END} and {@link #UNKNOWN} included. */
  public int size() {
    return words.size();
  }

  /** Returns the word of a number. */
  public String word(int number) {
    return words.get(number);
  }

  /** Returns the number of a word, that of {@link #UNKNOWN} if it has none. */
  public int number(String word) {
    return numbers.getInt(word);
  }

  /** Returns the count of the word of a number. */
  public long count(int number) {
    return counts[number];
  }

  /** Returns the numbers of a line's words, between those of {@link #BEGIN} and {@link #END}. */
  int[] numbers(Line line) {
    String[] words = words(line);
    int[] numbers = new int[words.length + 2];
    numbers[0] = number(BEGIN);
    for (int i = 0; i < words.length; i++) {
      numbers[i + 1] = number(words[i]);
    }
    numbers[words.length + 1] = number(END);
    return numbers;
  }

  private static String[] words(Line line) {
    String text = line.text().strip();
    return text.isEmpty() ? new String[0] : text.split("\\s+");
  }
}
