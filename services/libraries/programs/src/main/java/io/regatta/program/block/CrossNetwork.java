package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;

/**
 * The cross network of DCN-v2 (Wang et al., "DCN V2: Improved Deep &amp; Cross Network and Practical Lessons for Web-scale
 * Learning to Rank Systems", 2021). Layer l makes x(l+1) = x(0) ⊙ (W x(l) + b) + x(l) of its input; with a rank, W is the
 * product U Vᵀ of two matrices with this number of columns. Input and output: float32 {@code [batch, width]}. Used on its
 * trainer's model thread.
 */
public final class CrossNetwork extends AbstractBlock {

  /** The parameters of one layer; of low rank, {@code first} is V and {@code second} U transposed. */
  private record Layer(Parameter first, Parameter second, Parameter bias) {}

  private final int width;
  private final List<Layer> layers = new ArrayList<>();

  /**
   * Creates the layers. Weights start normal with deviation 1/√inputs, biases 0.
   *
   * @param width floats of an example
   * @param count of layers
   * @param rank of the weight matrices; 0: full
   */
  public CrossNetwork(int width, int count, int rank) {
    if (width < 1 || count < 1 || rank < 0) {
      throw new InvalidInput("a cross network needs a width and layers of at least 1, and a rank of at least 0, but width="
          + width + ", layers=" + count + " and rank=" + rank);
    }
    this.width = width;
    for (int i = 0; i < count; i++) {
      layers.add(new Layer(rank == 0 ? weight("cross" + i + "_w", width, width) : weight("cross" + i + "_v", width, rank),
          rank == 0 ? null : weight("cross" + i + "_u", rank, width),
          addParameter(Parameter.builder().setName("cross" + i + "_bias").setType(Parameter.Type.BIAS)
              .optShape(new Shape(width)).optInitializer(Initializer.ZEROS).build())));
    }
  }

  /** Adds a matrix that rows of {@code inputs} floats are multiplied with: the transpose of the paper's. */
  private Parameter weight(String name, int inputs, int outputs) {
    Parameter weight = addParameter(Parameter.builder().setName(name).setType(Parameter.Type.WEIGHT)
        .optShape(new Shape(inputs, outputs)).build());
    weight.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(inputs))));
    return weight;
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray first = inputs.singletonOrThrow();
    NDArray x = first;
    for (Layer layer : layers) {
      NDArray product = x.dot(store.getValue(layer.first(), first.getDevice(), training));
      if (layer.second() != null) {
        product = product.dot(store.getValue(layer.second(), first.getDevice(), training));
      }
      x = first.mul(product.add(store.getValue(layer.bias(), first.getDevice(), training))).add(x);
    }
    return new NDList(x);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), width)};
  }
}
