package io.regatta.program;

import ai.djl.nn.Block;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureField;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.SequenceFeature;
import io.regatta.data.Layout;
import io.regatta.program.block.TabularBlock;
import io.regatta.program.label.LabelHeads;
import io.regatta.program.label.OutputHead;
import io.regatta.program.label.RetrievalHead;
import io.regatta.program.network.ConversionLogits;
import io.regatta.program.network.DinBlock;
import io.regatta.program.network.DlrmBlock;
import io.regatta.program.network.FieldsNetwork;
import io.regatta.program.network.MatrixFactorizationBlock;
import io.regatta.program.network.MixtureOfExperts;
import io.regatta.program.network.TwoTowersBlock;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.feature.DeclaredLabels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The networks of jobs that declare features, and the heads of their labels. Immutable. */
final class TabularNetworks {

  private static final int ESMM_LABELS = 2;
  /** Most examples of a batch that are compared with each other: a matrix of 256 MB. */
  private static final int BATCH_MAX = 8192;

  private final ModelConfig model;
  private final List<Feature> features;
  private final List<FeatureField> fields;
  private final Layout layout;
  private final DeclaredLabels labels;

  private TabularNetworks(JobConfig job, DeclaredFeatures declared) {
    model = job.model();
    features = DeclaredFeatures.features(job);
    fields = declared.transform().fields();
    layout = declared.layout();
    labels = declared.labels();
  }

  /**
   * Returns the network of a job.
   *
   * @throws InvalidInput if features or labels do not fit the model
   */
  static Block network(JobConfig job, DeclaredFeatures declared) {
    TabularNetworks networks = new TabularNetworks(job, declared);
    networks.checkCoupled(job);
    int outputs = networks.labels.outputs();
    return switch (job.model().kind()) {
      case DLRM -> new DlrmBlock(networks.layout, job.model(), outputs);
      case DIN -> new DinBlock(networks.layout, networks.candidates(), job.model(), outputs);
      case MMOE -> new FieldsNetwork(networks.layout, job.model(), width -> new MixtureOfExperts(width, job.model(),
          networks.labels.labels().stream().map(DeclaredLabels.Label::outputs).toList()));
      case ESMM -> networks.conversions();
      case MATRIX_FACTORIZATION -> networks.factors();
      case TWO_TOWERS -> new TwoTowersBlock(networks.layout, networks.tower("user", job.model().user()),
          networks.tower("item", job.model().item()), job.model());
      default -> new TabularBlock(networks.layout, job.model(), outputs);
    };
  }

  /**
   * Returns the head of a job's labels.
   *
   * @param training true if vectors of users and items are scores of their own
   */
  static OutputHead head(JobConfig job, DeclaredLabels labels, boolean training) {
    return labels.itemAt().<OutputHead>map(at -> new RetrievalHead(at, job.model().temperature(),
        job.model().frequencyRate(), job.model().hidden().get(job.model().hidden().size() - 1), training))
        .orElseGet(() -> new LabelHeads(labels));
  }

  /** Refuses what losses over the examples of a batch cannot have. */
  private void checkCoupled(JobConfig job) {
    boolean towers = model.kind() == ModelConfig.Kind.TWO_TOWERS;
    boolean coupled = towers || job.labels().values().stream().anyMatch(LabelConfig::couplesExamples);
    if (coupled && job.batchSize() > BATCH_MAX) {
      throw new InvalidInput("job " + job.job() + ": batch_size is " + job.batchSize() + ", but this loss compares all examples of a batch "
          + "with each other, at most " + BATCH_MAX + "; give a smaller batch_size");
    }
    if (towers && job.heter().isCut() && model.frequencyRate() > 0) {
      throw new InvalidInput("job " + job.job() + ": with heter workers the frequencies of items are not known where the loss is "
          + "computed; set model.frequency_rate: 0, or take the section heter out");
    }
  }

  private List<String> slots() {
    return fields.stream().filter(field -> field.kind() != FeatureField.Kind.DENSE).map(FeatureField::name).toList();
  }

  /** Returns the slot of the candidate for the slot of each history: that of an id with the same table. */
  private Map<Integer, Integer> candidates() {
    Map<Integer, Integer> candidates = new HashMap<>();
    for (Feature feature : features) {
      if (feature instanceof SequenceFeature history) {
        features.stream().filter(other -> other instanceof IdFeature id && id.coding().namespace().equals(history.coding().namespace()))
            .findFirst().ifPresent(id -> candidates.put(slots().indexOf(history.name()), slots().indexOf(id.name())));
      }
    }
    return candidates;
  }

  private Block conversions() {
    boolean fits = labels.labels().size() == ESMM_LABELS
        && labels.labels().stream().allMatch(label -> label.config().kind() == LabelConfig.Kind.BINARY);
    if (!fits) {
      throw new InvalidInput("model.kind: esmm has two binary labels, clicks and then clicks with a conversion, but labels are "
          + labels.outputNames());
    }
    return new FieldsNetwork(layout, model, width -> new ConversionLogits(width, model));
  }

  private Block factors() {
    if (labels.outputs() != 1) {
      throw new InvalidInput("model.kind: matrix_factorization has one output, but labels are " + labels.outputNames());
    }
    return new MatrixFactorizationBlock(layout, column("user", model.user()), column("item", model.item()), model);
  }

  private int column(String key, List<String> names) {
    FeatureField field = fields.stream().filter(each -> names.size() == 1 && each.name().equals(names.get(0))
        && each.kind() != FeatureField.Kind.DENSE && each.width() == 1).findFirst().orElseThrow(() -> new InvalidInput("model." + key
            + " is " + names + ", but matrix_factorization takes one feature with one id; the features are "
            + features.stream().map(Feature::name).toList()));
    return field.offset();
  }

  private TwoTowersBlock.Fields tower(String key, List<String> names) {
    List<Integer> slots = new ArrayList<>();
    List<Integer> dense = new ArrayList<>();
    for (String name : names) {
      if (features.stream().noneMatch(feature -> feature.name().equals(name))) {
        throw new InvalidInput("model." + key + " names " + name + ", which is no feature; the features are "
            + features.stream().map(Feature::name).toList());
      }
      for (FeatureField field : fields) {
        boolean own = field.name().equals(name) || field.name().startsWith(name + ".");
        if (own && field.kind() != FeatureField.Kind.DENSE) {
          slots.add(slots().indexOf(field.name()));
        }
        for (int i = 0; own && field.kind() == FeatureField.Kind.DENSE && i < field.width(); i++) {
          dense.add(field.offset() + i);
        }
      }
    }
    return new TwoTowersBlock.Fields(slots, dense);
  }
}
