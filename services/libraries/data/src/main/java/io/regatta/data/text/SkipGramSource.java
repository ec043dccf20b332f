package io.regatta.data.text;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A source of the pairs of near words from which skip-gram with negative sampling learns (Mikolov et al., "Distributed
 * Representations of Words and Phrases and their Compositionality", 2013). The first id of an example is the number of
 * a word. The second is that of a word at most {@code window} away, plus the size of the dictionary. Then {@code
 * negatives} more of the second kind follow, drawn with probability ∝ count^0.75. The label is 1. Words more frequent
 * than {@code subsample} are skipped at random, and windows are shortened at random. The random choices are a function
 * of seed, pass and the records before in the pass. Immutable; any thread may use it.
 */
public final class SkipGramSource extends WordSource<SkipGramSource.Pair> {

  private static final double NEGATIVE_POWER = 0.75;

  private final Draws draws;
  private final double[] kept;
  private final double[] cumulated;

  /** A word, a word near it, and the seed of its negatives. */
  record Pair(int center, int context, long seed) {}

  /**
   * The parameters of the random choices.
   *
   * @param window largest distance between the two words of a pair
   * @param negatives words drawn for each pair
   * @param subsample share of a word in the text above which its occurrences are thinned out; 0: never
   */
  public record Draws(int window, int negatives, double subsample, long seed) {

    public Draws {
      if (window < 1 || negatives < 1 || !(subsample >= 0)) {
        throw new InvalidInput("skip-gram needs a window and negatives of at least 1 and a subsample of at least 0, not "
            + window + ", " + negatives + " and " + subsample);
      }
    }
  }

  /** @param files read in this order; must exist */
  public SkipGramSource(List<Path> files, Dictionary dictionary, Draws draws) {
    super(files, dictionary);
    this.draws = draws;
    int words = dictionary.size();
    double total = 0;
    for (int i = 0; i < words; i++) {
      total += dictionary.count(i);
    }
    kept = new double[words];
    cumulated = new double[words];
    double sum = 0;
    for (int i = 0; i < words; i++) {
      double share = dictionary.count(i) / total;
      kept[i] = draws.subsample() == 0 || share == 0 ? 1 : Math.min(1, Math.sqrt(draws.subsample() / share));
      sum += Math.pow(dictionary.count(i), NEGATIVE_POWER);
      cumulated[i] = sum;
    }
  }

  @Override
  public String name() {
    return "skip-grams";
  }

  @Override
  public Layout layout() {
    return new Layout(0, 2 + draws.negatives());
  }

  @Override
  public long size() {
    return -1;
  }

  @Override
  Lines<Pair> lines(int pass) {
    SplittableRandom random = new SplittableRandom(Mix64.mix(draws.seed() + Mix64.GOLDEN * pass));
    return (line, out) -> pairs(Arrays.stream(line, 1, line.length - 1)
        .filter(word -> random.nextDouble() < kept[word]).toArray(), random, out);
  }

  private void pairs(int[] words, SplittableRandom random, ArrayDeque<Pair> out) {
    for (int center = 0; center < words.length; center++) {
      int reach = 1 + random.nextInt(draws.window());
      for (int near = Math.max(0, center - reach); near <= Math.min(words.length - 1, center + reach); near++) {
        if (near != center) {
          out.add(new Pair(words[center], words[near], random.nextLong()));
        }
      }
    }
  }

  @Override
  public boolean parse(Pair pair, SlotBatch into, int row) {
    int at = row * layout().slots();
    int words = dictionary.size();
    into.ids()[at] = pair.center;
    into.ids()[at + 1] = words + (long) pair.context;
    SplittableRandom random = new SplittableRandom(pair.seed);
    for (int k = 0; k < draws.negatives(); k++) {
      int negative = draw(random);
      into.ids()[at + 2 + k] = words + (long) (negative == pair.context ? (negative + 1) % words : negative);
    }
    into.labels()[row] = 1;
    return true;
  }

  private int draw(SplittableRandom random) {
    double at = random.nextDouble() * cumulated[cumulated.length - 1];
    int found = Arrays.binarySearch(cumulated, at);
    return Math.min(found >= 0 ? found + 1 : -found - 1, cumulated.length - 1);
  }
}
