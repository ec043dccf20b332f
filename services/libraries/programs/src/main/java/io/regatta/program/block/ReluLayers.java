package io.regatta.program.block;

import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.Dropout;
import ai.djl.training.initializer.NormalInitializer;
import java.util.List;

/** The fully connected relu layers that click-through models have on top of their embeddings. Stateless. */
public final class ReluLayers {

  private ReluLayers() {}

  /**
   * Returns the layers, and a last one without relu. Weights start {@code Normal(0, gain/√fan_in)}, biases 0.
   *
   * @param inputs width of the input
   * @param hidden widths of the relu layers
   * @param outputs width of the last layer
   * @param gain √2 keeps the variance through relu layers (He et al., 2015)
   */
  static SequentialBlock of(int inputs, List<Integer> hidden, int outputs, double gain) {
    return of(inputs, hidden, outputs, gain, 0);
  }

  /**
   * Returns the layers, with dropout (Srivastava et al., 2014) after each relu, and a last layer without either. Input:
   * float32 {@code [batch, inputs]}; output: {@code [batch, outputs]}. Weights start {@code Normal(0, gain/√fan_in)},
   * biases 0.
   *
   * @param inputs width of the input
   * @param hidden widths of the relu layers
   * @param outputs width of the last layer
   * @param gain √2 keeps the variance through relu layers (He et al., 2015)
   * @param dropout probability with which an output of a relu layer is 0 in a training pass; the others are divided by
   *     1 − dropout. 0: no dropout
   */
  public static SequentialBlock of(int inputs, List<Integer> hidden, int outputs, double gain, double dropout) {
    SequentialBlock layers = new SequentialBlock();
    int fanIn = inputs;
    for (int units : hidden) {
      layers.add(layer(units, fanIn, gain)).add(Activation::relu);
      if (dropout > 0) {
        layers.add(Dropout.builder().optRate((float) dropout).build());
      }
      fanIn = units;
    }
    return layers.add(layer(outputs, fanIn, gain));
  }

  private static Linear layer(int units, int fanIn, double gain) {
    Linear layer = Linear.builder().setUnits(units).build();
    layer.setInitializer(new NormalInitializer((float) (gain / Math.sqrt(fanIn))), Parameter.Type.WEIGHT);
    return layer;
  }
}
