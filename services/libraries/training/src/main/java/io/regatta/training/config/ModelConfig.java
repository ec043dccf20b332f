package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.training.config.regularization.RegularizationConfig;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The {@code model} section of a job: a network over the declared features, made of parts. A key of a part that the
 * network does not have is refused. Immutable.
 */
public record ModelConfig(
    @Setting(value = "none", doc = "The network. none: the program's own. logistic_regression; fm: factorization machine; wide_and_deep; "
        + "deepfm; dcn_v2: deep and cross network, version 2; dlrm; din: attention over histories; mmoe and esmm: several labels; "
        + "matrix_factorization; two_towers: retrieval.")
    Kind kind,

    @Setting(value = "10", unit = "values", doc = "Values of the vector of an id; not for logistic_regression.")
    int embedding,

    @Setting(value = "0.05", doc = "Vectors start uniform in ± this bound; not for logistic_regression.")
    double embeddingBound,

    @Setting(value = "128,64", doc = "Widths of the relu layers; not for logistic_regression, fm, matrix_factorization. two_towers: the last "
        + "one is that of the vectors of users and items. mmoe: of each expert.")
    List<Integer> hidden,

    @Setting(value = "1.414", doc = "Weights of the relu layers start normal, with standard deviation gain/√inputs; as hidden.")
    double gain,

    @Setting(value = "3", unit = "layers", doc = "Cross layers: dcn_v2.")
    int crossLayers,

    @Setting(value = "0", doc = "Rank of the matrices of cross layers; 0: full matrices. dcn_v2.")
    int crossRank,

    @Setting(value = "0", doc = "Probability with which an output of a relu layer is 0 in a training step; as hidden.")
    double dropout,

    @Setting(value = "64", doc = "Widths of the relu layers over numbers, before one of the width of an id's vector: dlrm.")
    List<Integer> bottom,

    @Setting(value = "80,40", doc = "Widths of the sigmoid layers that weigh the values of a sequence: din.")
    List<Integer> attention,

    @Setting(value = "4", doc = "Experts, each with the layers of hidden: mmoe.")
    int experts,

    @Setting(value = "32", doc = "Widths of the relu layers of each label, after the experts: mmoe.")
    List<Integer> tower,

    @Setting(doc = "Features of the user: matrix_factorization (one id), two_towers.")
    List<String> user,

    @Setting(doc = "Features of the item, the first of which names it: matrix_factorization (one id), two_towers.")
    List<String> item,

    @Setting(value = "0.1", doc = "Divides the cosines of users and items before the softmax: two_towers.")
    double temperature,

    @Setting(value = "0.01", doc = "Weight of the newest distance between two occurrences in the estimate of an item's frequency, by which "
        + "the softmax is corrected; 0: not corrected. two_towers.")
    double frequencyRate,

    @Setting(doc = "L2 and dropout by part of the network.")
    RegularizationConfig regularization) {

  /** The networks. */
  public enum Kind {
    NONE, LOGISTIC_REGRESSION(Part.LINEAR), FM(Part.LINEAR, Part.PAIRS), WIDE_AND_DEEP(Part.LINEAR, Part.DEEP),
    DEEPFM(Part.LINEAR, Part.PAIRS, Part.DEEP), DCN_V2(Part.CROSS, Part.DEEP),
    DLRM(Part.BOTTOM, Part.DEEP), DIN(Part.ATTENTION, Part.DEEP), MMOE(Part.EXPERTS, Part.DEEP), ESMM(Part.CONVERSION, Part.DEEP),
    MATRIX_FACTORIZATION(Part.FACTORS), TWO_TOWERS(Part.FACTORS, Part.RETRIEVAL, Part.DEEP);

    private final Set<Part> parts;

    Kind(Part... parts) {
      this.parts = parts.length == 0 ? Set.of() : Set.copyOf(EnumSet.copyOf(List.of(parts)));
    }

    /** Returns the parts of the network. */
    public Set<Part> parts() {
      return parts;
    }
  }

  /**
   * The parts of a network. The first four are weights of features, products of pairs of vectors, cross layers and relu
   * layers. The others are layers over numbers, attention, experts, conversions, vectors of users and items, retrieval.
   */
  public enum Part { LINEAR, PAIRS, CROSS, DEEP, BOTTOM, ATTENTION, EXPERTS, CONVERSION, FACTORS, RETRIEVAL }

  private static final int EMBEDDING = 10;
  private static final double BOUND = 0.05;
  private static final List<Integer> HIDDEN = List.of(128, 64);
  private static final double GAIN = 1.414;
  private static final int CROSS_LAYERS = 3;
  private static final List<Integer> BOTTOM = List.of(64);
  private static final List<Integer> ATTENTION = List.of(80, 40);
  private static final int EXPERTS = 4;
  private static final List<Integer> TOWER = List.of(32);
  private static final double TEMPERATURE = 0.1;
  private static final double FREQUENCY_RATE = 0.01;

  public ModelConfig {
    hidden = List.copyOf(hidden);
    bottom = List.copyOf(bottom);
    attention = List.copyOf(attention);
    tower = List.copyOf(tower);
    user = List.copyOf(user);
    item = List.copyOf(item);
    only(kind, embedding != EMBEDDING, "embedding", Part.PAIRS, Part.CROSS, Part.DEEP, Part.FACTORS);
    only(kind, embeddingBound != BOUND, "embedding_bound", Part.PAIRS, Part.CROSS, Part.DEEP, Part.FACTORS);
    only(kind, !bottom.equals(BOTTOM), "bottom", Part.BOTTOM);
    only(kind, !attention.equals(ATTENTION), "attention", Part.ATTENTION);
    only(kind, experts != EXPERTS, "experts", Part.EXPERTS);
    only(kind, !tower.equals(TOWER), "tower", Part.EXPERTS);
    only(kind, !user.isEmpty(), "user", Part.FACTORS);
    only(kind, !item.isEmpty(), "item", Part.FACTORS);
    only(kind, temperature != TEMPERATURE, "temperature", Part.RETRIEVAL);
    only(kind, frequencyRate != FREQUENCY_RATE, "frequency_rate", Part.RETRIEVAL);
    only(kind, !hidden.equals(HIDDEN), "hidden", Part.DEEP);
    only(kind, gain != GAIN, "gain", Part.DEEP);
    only(kind, crossLayers != CROSS_LAYERS, "cross_layers", Part.CROSS);
    only(kind, crossRank != 0, "cross_rank", Part.CROSS);
    only(kind, dropout != 0, "dropout", Part.DEEP);
    only(kind, regularization.l2Linear() != 0, "regularization.l2_linear", Part.LINEAR);
    only(kind, regularization.l2Embedding() != 0, "regularization.l2_embedding", Part.PAIRS, Part.CROSS, Part.DEEP, Part.FACTORS);
    only(kind, regularization.l2Deep() != 0, "regularization.l2_deep", Part.DEEP);
    only(kind, regularization.l2Cross() != 0, "regularization.l2_cross", Part.CROSS);
    boolean isSum = EnumSet.of(Part.LINEAR, Part.PAIRS, Part.CROSS, Part.DEEP).containsAll(kind.parts());
    if (regularization.embeddingDropout() != 0 && (!isSum || kind == Kind.LOGISTIC_REGRESSION)) {
      throw new InvalidInput("regularization.embedding_dropout has no effect on kind " + word(kind) + "; take it out");
    }
    only(kind, regularization.crossDropout() != 0, "regularization.cross_dropout", Part.CROSS);
    atLeast("embedding", embedding, 1);
    atLeast("cross_layers", crossLayers, 1);
    atLeast("cross_rank", crossRank, 0);
    atLeast("experts", experts, 1);
    hidden.forEach(width -> atLeast("hidden", width, 1));
    bottom.forEach(width -> atLeast("bottom", width, 1));
    attention.forEach(width -> atLeast("attention", width, 1));
    tower.forEach(width -> atLeast("tower", width, 1));
    if (kind.parts().contains(Part.FACTORS) && (user.isEmpty() || item.isEmpty())) {
      throw new InvalidInput((user.isEmpty() ? "user" : "item") + " is missing; name the features of the "
          + (user.isEmpty() ? "user" : "item"));
    }
    if (hidden.isEmpty() && (kind == Kind.TWO_TOWERS || kind == Kind.MMOE)) {
      throw new InvalidInput("hidden is empty, but kind " + word(kind) + " needs a layer; give its width");
    }
    if (!(temperature > 0)) {
      throw new InvalidInput("temperature must be more than 0, not " + temperature);
    }
    if (!(frequencyRate >= 0 && frequencyRate < 1)) {
      throw new InvalidInput("frequency_rate must be from 0 to less than 1, not " + frequencyRate);
    }
    if (!(embeddingBound > 0)) {
      throw new InvalidInput("embedding_bound must be more than 0, not " + embeddingBound);
    }
    if (!(gain > 0)) {
      throw new InvalidInput("gain must be more than 0, not " + gain);
    }
    if (!(dropout >= 0 && dropout < 1)) {
      throw new InvalidInput("dropout must be from 0 to less than 1, not " + dropout);
    }
  }

  private static void atLeast(String key, int value, int least) {
    if (value < least) {
      throw new InvalidInput(key + " must be at least " + least + ", not " + value);
    }
  }

  /** Refuses a key that was set for a network that has none of the parts on which it has an effect. */
  private static void only(Kind kind, boolean set, String key, Part... parts) {
    if (set && List.of(parts).stream().noneMatch(kind.parts()::contains)) {
      throw new InvalidInput(key + " has no effect on kind " + word(kind) + "; take it out, or set kind: "
          + EnumSet.allOf(Kind.class).stream().filter(other -> List.of(parts).stream().anyMatch(other.parts()::contains))
              .map(ModelConfig::word).collect(Collectors.joining(" or ")));
    }
  }

  private static String word(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}
