package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;

/** A label in the section {@code labels} of a job file, by its name. Immutable. */
public record LabelConfig(
    @Setting(doc = "Column that it reads; empty: the label's name.")
    String column,

    @Setting(value = "binary", doc = "binary: 0 or 1, and the model estimates the probability of 1. classes: one of several texts, and "
        + "the model estimates the probability of each. number: the model estimates it. rank: a relevance of at least 0, and the model "
        + "gives a score by which the examples of a group are ordered.")
    Kind kind,

    @Setting(doc = "binary: text that is 1; any other is 0. Empty: 0, 1, true and false are expected, and another value is a bad line.")
    String positive,

    @Setting(doc = "classes: the texts, in order; [0-9] stands for ten of them. Another value is a bad line.")
    List<String> classes,

    @Setting(value = "auto", doc = "number: squared, huber or poisson (counts; the network's output is the logarithm of their mean). rank: "
        + "pairwise (RankNet) or listwise (ListNet). auto: squared, pairwise, or what binary and classes have: log loss.")
    Loss loss,

    @Setting(value = "1", doc = "number with loss: huber: the error up to which the loss is a square.")
    double delta,

    @Setting(doc = "rank: column whose equal values are one group, such as a query. Pairs are those of a batch, so rows of a group should "
        + "follow each other.")
    String group,

    @Setting(value = "1", doc = "Factor of its loss in the sum over all labels.")
    double weight,

    @Setting(value = "1", doc = "binary: how often a row of label 1 counts in the training loss, beside one of label 0.")
    double positiveWeight,

    @Setting(value = "1", doc = "binary, if it is the only label: share of the training rows of label 0 that are trained on, drawn anew in "
        + "each pass; metrics on test data and predictions are corrected for it. 1: all.")
    double negativeRate,

    @Setting(value = "refuse", doc = "Rows without the label. refuse: the line is bad. mask: the row does not count for this label.")
    Missing missing) {

  /** The kinds of labels. */
  public enum Kind {
    /** 0 or 1. */
    BINARY,
    /** One of several texts. */
    CLASSES,
    /** A number. */
    NUMBER,
    /** A relevance within a group. */
    RANK
  }

  /** The losses of labels that have a choice. */
  public enum Loss {
    /** The first one of the label's kind. */
    AUTO,
    /** Half of the squared error. */
    SQUARED,
    /** Squared up to {@link #delta}, linear beyond it (Huber, 1964). */
    HUBER,
    /** Negative log likelihood of a Poisson distribution. */
    POISSON,
    /** Log loss of the order of pairs (Burges et al., 2005). */
    PAIRWISE,
    /** Cross entropy of the group's top-one probabilities (Cao et al., 2007). */
    LISTWISE
  }

  /** The treatment of rows without the label. */
  public enum Missing {
    /** The line is bad. */
    REFUSE,
    /** The row has no loss and no metrics of this label. */
    MASK
  }

  private static final int CLASSES_MIN = 2;
  /** Most classes: their confusion matrix goes through an all-reduce. */
  private static final int CLASSES_MAX = 1000;

  public LabelConfig {
    classes = List.copyOf(classes);
    only(kind, Kind.BINARY, !positive.isEmpty(), "positive");
    only(kind, Kind.CLASSES, !classes.isEmpty(), "classes");
    only(kind, Kind.RANK, !group.isEmpty(), "group");
    loss = checked(kind, loss);
    only(kind, Kind.BINARY, positiveWeight != 1, "positive_weight");
    only(kind, Kind.BINARY, negativeRate != 1, "negative_rate");
    if (!(positiveWeight > 0) || Double.isInfinite(positiveWeight)) {
      throw new InvalidInput("positive_weight must be more than 0, not " + positiveWeight);
    }
    if (!(negativeRate > 0 && negativeRate <= 1)) {
      throw new InvalidInput("negative_rate must be more than 0, and at most 1, not " + negativeRate);
    }
    if (kind == Kind.CLASSES && classes.isEmpty()) {
      throw new InvalidInput("classes is missing; give the texts of the classes, such as [no, maybe, yes]");
    }
    if (new HashSet<>(classes).size() < classes.size()) {
      throw new InvalidInput("classes names a class twice: " + classes);
    }
    if (kind == Kind.RANK && group.isEmpty()) {
      throw new InvalidInput("group is missing; give the column whose equal values are one group");
    }
    if (loss != Loss.HUBER && delta != 1) {
      throw new InvalidInput("delta has no effect without loss: huber; take it out");
    }
    if (!(delta > 0) || !(weight > 0)) {
      throw new InvalidInput((delta > 0 ? "weight" : "delta") + " must be more than 0, not " + (delta > 0 ? weight : delta));
    }
  }

  private static Loss checked(Kind kind, Loss loss) {
    List<Loss> possible = switch (kind) {
      case NUMBER -> List.of(Loss.SQUARED, Loss.HUBER, Loss.POISSON);
      case RANK -> List.of(Loss.PAIRWISE, Loss.LISTWISE);
      case BINARY, CLASSES -> List.of(Loss.AUTO);
    };
    if (loss != Loss.AUTO && !possible.contains(loss)) {
      throw new InvalidInput("loss: " + word(loss) + " has no effect on kind " + word(kind) + "; take it out");
    }
    return loss == Loss.AUTO ? possible.get(0) : loss;
  }

  private static void only(Kind kind, Kind its, boolean set, String key) {
    if (set && kind != its) {
      throw new InvalidInput(key + " has no effect on kind " + word(kind) + "; take it out, or set kind: " + word(its));
    }
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Returns true if the loss of an example depends on the other examples of its batch. */
  public boolean couplesExamples() {
    return kind == Kind.RANK;
  }

  /** Refuses a label of too few or too many classes, once ranges of names are expanded. */
  public static void checkClasses(String name, List<String> expanded) {
    if (expanded.size() > CLASSES_MAX) {
      throw new InvalidInput("labels." + name + ": classes names " + expanded.size() + " classes, more than " + CLASSES_MAX
          + "; merge rare ones");
    }
    if (expanded.size() < CLASSES_MIN) {
      throw new InvalidInput("labels." + name + ": classes names " + expanded.size() + " class; a label has at least " + CLASSES_MIN);
    }
  }
}
