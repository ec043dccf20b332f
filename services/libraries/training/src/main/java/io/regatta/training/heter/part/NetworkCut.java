package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.recurrent.RecurrentBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.config.HeterConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.cut.RemoteBlock;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.SyncBatchNorm;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The cut of one initialized network: where it is, and the parameters of the part. Both sides find the same one.
 * Belongs to a model thread.
 */
final class NetworkCut {

  /** The place of a cut. */
  enum Kind {
    /** Around a marked block. */
    MARKED,
    /** Around the whole network. */
    WHOLE,
    /** After the network: the loss alone is computed elsewhere. */
    LOSS
  }

  private final Kind kind;
  private final RemoteBlock marked;
  private final Block network;
  private final Map<String, Parameter> trained = new LinkedHashMap<>();
  private final Map<String, Parameter> frozen = new LinkedHashMap<>();

  private NetworkCut(Kind kind, RemoteBlock marked, Block network) {
    this.kind = kind;
    this.marked = marked;
    this.network = network;
    if (kind == Kind.LOSS) {
      return;
    }
    Block part = marked == null ? network : marked;
    Set<Parameter> own = parameters(part, null);
    Set<Parameter> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Pair<String, Parameter> named : network.getParameters()) {
      Parameter parameter = named.getValue();
      if (own.contains(parameter) && parameter.isInitialized() && seen.add(parameter)) {
        (parameter.requiresGradient() ? trained : frozen).put(named.getKey(), parameter);
      }
    }
  }

  /**
   * Returns the cut of a network.
   *
   * @throws InvalidInput if the job's network cannot be cut
   */
  static NetworkCut of(JobConfig job, Block network) {
    String where = "job " + job.job() + ": ";
    if (job.heter().part() == HeterConfig.Part.LOSS) {
      return new NetworkCut(Kind.LOSS, null, network);
    }
    List<RemoteBlock> marks = marks(network);
    if (marks.size() > 1) {
      throw new InvalidInput(where + marks.size() + " blocks of the network are marked with Heter.remote; mark one");
    }
    if (marks.isEmpty() && all(network).stream().anyMatch(DistributedEmbedding.class::isInstance)) {
      throw new InvalidInput(where + "the network has sparse tables and no block that is marked with Heter.remote, "
          + "so that heter "
          + "workers have nothing to compute; mark the block after the tables, or set heter.part: loss");
    }
    NetworkCut cut = marks.isEmpty() ? new NetworkCut(Kind.WHOLE, null, network)
        : new NetworkCut(Kind.MARKED, marks.get(0), network);
    cut.check(where);
    return cut;
  }

  private void check(String where) {
    Block part = marked == null ? network : marked;
    if (all(part).stream().anyMatch(SyncBatchNorm.class::isInstance)) {
      throw new InvalidInput(where + "SyncBatchNorm sums over trainers, but heter workers compute it; use BatchNorm, "
          + "or move it "
          + "before the cut");
    }
    if (all(part).stream().anyMatch(DistributedEmbedding.class::isInstance)) {
      throw new InvalidInput(where + "the part that is marked with Heter.remote has a sparse table, whose rows "
          + "trainers have; mark "
          + "the block after it");
    }
    if (marked != null) {
      Set<Parameter> others = parameters(network, marked);
      parameters(marked, null).stream().filter(others::contains).findFirst().ifPresent(shared -> {
        throw new InvalidInput(where + "parameter " + shared.getName() + " is used by the part that is marked with "
            + "Heter.remote and by "
            + "the rest of the network; both parts need parameters of their own");
      });
    }
  }

  /** Returns the marked blocks of a network. */
  static List<RemoteBlock> marks(Block network) {
    return all(network).stream().filter(RemoteBlock.class::isInstance).map(RemoteBlock.class::cast).toList();
  }

  private static List<Block> all(Block root) {
    Set<Block> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Block> all = new ArrayList<>();
    collect(root, null, seen, all);
    return all;
  }

  private static void collect(Block block, Block without, Set<Block> seen, List<Block> into) {
    if (block == without || !seen.add(block)) {
      return;
    }
    into.add(block);
    block.getChildren().values().forEach(child -> collect(child, without, seen, into));
  }

  /** @param without a block whose parameters do not count; null: none */
  private static Set<Parameter> parameters(Block root, Block without) {
    List<Block> blocks = new ArrayList<>();
    collect(root, without, Collections.newSetFromMap(new IdentityHashMap<>()), blocks);
    Set<Parameter> parameters = Collections.newSetFromMap(new IdentityHashMap<>());
    blocks.forEach(block -> parameters.addAll(block.getDirectParameters().values()));
    return parameters;
  }

  Kind kind() {
    return kind;
  }

  /** Returns the marked block; null if there is none. */
  RemoteBlock marked() {
    return marked;
  }

  /** Returns true if an input of the part is used by its block, and not only by what comes after it. */
  boolean isOfBlock(int input) {
    return marked == null || input < marked.blockInputs();
  }

  /** Returns the part's parameters that are trained, by their names in the network. */
  Map<String, Parameter> trained() {
    return trained;
  }

  /** Returns the names of parameters that are trained and do not belong to the part. */
  List<String> trainedBefore() {
    return network.getParameters().stream().filter(named -> named.getValue().isInitialized()
        && named.getValue().requiresGradient() && !trained.containsValue(named.getValue())).map(Pair::getKey).toList();
  }

  /** Returns the part's parameters that are not trained, such as running means. */
  Map<String, Parameter> frozen() {
    return frozen;
  }

  /**
   * Returns true if several batches may be computed as one: the part keeps no statistics of a batch, and draws no
   * random numbers.
   */
  boolean isGatherable() {
    Block part = marked == null ? network : marked;
    return frozen.isEmpty() && (kind == Kind.LOSS
        || all(part).stream().noneMatch(block -> block instanceof Dropout || block instanceof RecurrentBlock));
  }

  /**
   * Computes the part.
   *
   * @param labels of a network that takes them; null: it takes none
   */
  NDList forward(ParameterStore store, NDList inputs, NDList labels) {
    return switch (kind) {
      case LOSS -> inputs;
      case MARKED -> marked.compute(store, inputs, true);
      case WHOLE -> labels == null ? network.forward(store, inputs, true) : network.forward(store, inputs, labels,
          null);
    };
  }

  /**
   * Returns what crosses the cut as the initialized network has it: inputs and parameters. Outputs and labels follow
   * with
   * the first batch.
   *
   * @param shapes with which the network was initialized
   */
  CutSignature signature(Shape[] shapes) {
    Shape[] known = kind == Kind.LOSS ? new Shape[0] : kind == Kind.MARKED ? marked.getInputShapes() : shapes;
    CutSignature.Builder signature = CutSignature.newBuilder();
    for (int i = 0; i < known.length; i++) {
      CutTensor input = Tensors.tensor(Role.INPUT, "input " + i, type(), known[i]);
      signature.addTensors(input.getShapeCount() == 0 ? input : input.toBuilder().setShape(0, -1).build());
    }
    long numel = 0;
    for (Map.Entry<String, Parameter> parameter : trained.entrySet()) {
      NDArray array = parameter.getValue().getArray();
      numel += array.getShape().size();
      signature.addTensors(Tensors.tensor(Role.DENSE_VALUES, parameter.getKey(), array.getDataType(),
          array.getShape()));
    }
    frozen.forEach((name, parameter) -> signature.addTensors(Tensors.tensor(Role.FROZEN, name,
        parameter.getArray().getDataType(), parameter.getArray().getShape())));
    return signature.setDense(numel).build();
  }

  /** Returns the type of the part's parameters, with which it was initialized. */
  private DataType type() {
    return trained.values().stream().findFirst().map(parameter -> parameter.getArray().getDataType())
        .orElse(DataType.FLOAT32);
  }
}
