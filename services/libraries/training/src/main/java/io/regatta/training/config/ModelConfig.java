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
 * The {@code model} section of a job: a network over the declared features, as a sum of parts. A key of a part that the
 * network does not have is refused. Immutable.
 */
public record ModelConfig(
    @Setting(value = "none", doc = "The network. none: the program's own. logistic_regression; fm: factorization machine; wide_and_deep; "
        + "deepfm; dcn_v2: deep and cross network, version 2.")
    Kind kind,

    @Setting(value = "10", unit = "values", doc = "Values of the vector of an id; not for logistic_regression.")
    int embedding,

    @Setting(value = "0.05", doc = "Vectors start uniform in ± this bound; not for logistic_regression.")
    double embeddingBound,

    @Setting(value = "128,64", doc = "Widths of the relu layers: wide_and_deep, deepfm, dcn_v2.")
    List<Integer> hidden,

    @Setting(value = "1.414", doc = "Weights of the relu layers start normal, with standard deviation gain/√inputs: wide_and_deep, deepfm, "
        + "dcn_v2.")
    double gain,

    @Setting(value = "3", unit = "layers", doc = "Cross layers: dcn_v2.")
    int crossLayers,

    @Setting(value = "0", doc = "Rank of the matrices of cross layers; 0: full matrices. dcn_v2.")
    int crossRank,

    @Setting(value = "0", doc = "Probability with which an output of a relu layer is 0 in a training step: wide_and_deep, deepfm, dcn_v2.")
    double dropout,

    @Setting(doc = "L2 and dropout by part of the network.")
    RegularizationConfig regularization) {

  /** The networks. */
  public enum Kind {
    NONE, LOGISTIC_REGRESSION(Part.LINEAR), FM(Part.LINEAR, Part.PAIRS), WIDE_AND_DEEP(Part.LINEAR, Part.DEEP),
    DEEPFM(Part.LINEAR, Part.PAIRS, Part.DEEP), DCN_V2(Part.CROSS, Part.DEEP);

    private final Set<Part> parts;

    Kind(Part... parts) {
      this.parts = parts.length == 0 ? Set.of() : Set.copyOf(EnumSet.copyOf(List.of(parts)));
    }

    /** Returns the parts whose logits the network adds. */
    public Set<Part> parts() {
      return parts;
    }
  }

  /** The parts of a network: weights of features, products of pairs of vectors, cross layers, relu layers. */
  public enum Part { LINEAR, PAIRS, CROSS, DEEP }

  private static final int EMBEDDING = 10;
  private static final double BOUND = 0.05;
  private static final List<Integer> HIDDEN = List.of(128, 64);
  private static final double GAIN = 1.414;
  private static final int CROSS_LAYERS = 3;

  public ModelConfig {
    hidden = List.copyOf(hidden);
    only(kind, embedding != EMBEDDING, "embedding", Part.PAIRS, Part.CROSS, Part.DEEP);
    only(kind, embeddingBound != BOUND, "embedding_bound", Part.PAIRS, Part.CROSS, Part.DEEP);
    only(kind, !hidden.equals(HIDDEN), "hidden", Part.DEEP);
    only(kind, gain != GAIN, "gain", Part.DEEP);
    only(kind, crossLayers != CROSS_LAYERS, "cross_layers", Part.CROSS);
    only(kind, crossRank != 0, "cross_rank", Part.CROSS);
    only(kind, dropout != 0, "dropout", Part.DEEP);
    only(kind, regularization.l2Linear() != 0, "regularization.l2_linear", Part.LINEAR);
    only(kind, regularization.l2Embedding() != 0, "regularization.l2_embedding", Part.PAIRS, Part.CROSS, Part.DEEP);
    only(kind, regularization.l2Deep() != 0, "regularization.l2_deep", Part.DEEP);
    only(kind, regularization.l2Cross() != 0, "regularization.l2_cross", Part.CROSS);
    only(kind, regularization.embeddingDropout() != 0, "regularization.embedding_dropout", Part.PAIRS, Part.CROSS, Part.DEEP);
    only(kind, regularization.crossDropout() != 0, "regularization.cross_dropout", Part.CROSS);
    atLeast("embedding", embedding, 1);
    atLeast("cross_layers", crossLayers, 1);
    atLeast("cross_rank", crossRank, 0);
    hidden.forEach(width -> atLeast("hidden", width, 1));
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
