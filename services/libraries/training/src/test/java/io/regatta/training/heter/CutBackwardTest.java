package io.regatta.training.heter;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.util.Pair;
import io.regatta.training.model.Engines;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The mechanism of a cut. The upper part of a network is trained elsewhere, from the activations of the lower part. The
 * lower part is trained from the gradient that comes back. The oracle is the network in one piece, bit for bit.
 */
class CutBackwardTest {

  private static final int BATCH = 8;
  private static final int CLASSES = 3;

  /** Networks that are cut in two. */
  enum Network {
    MLP(new Shape(BATCH, 5)) {
      @Override
      Block lower() {
        return new SequentialBlock().add(Linear.builder().setUnits(7).build()).add(Activation::relu);
      }

      @Override
      Block upper() {
        return new SequentialBlock().add(Linear.builder().setUnits(6).build()).add(Activation::relu)
            .add(Linear.builder().setUnits(CLASSES).build());
      }
    },
    BATCH_NORM(new Shape(BATCH, 2, 6, 6)) {
      @Override
      Block lower() {
        return Conv2d.builder().setKernelShape(new Shape(3, 3)).setFilters(4).build();
      }

      @Override
      Block upper() {
        return new SequentialBlock().add(BatchNorm.builder().build()).add(Activation::relu)
            .add(Conv2d.builder().setKernelShape(new Shape(2, 2)).setFilters(3).build())
            .add(BatchNorm.builder().build())
            .add(Blocks.batchFlattenBlock()).add(Linear.builder().setUnits(CLASSES).build());
      }
    },
    DROPOUT(new Shape(BATCH, 5)) {
      @Override
      Block lower() {
        return Linear.builder().setUnits(7).build();
      }

      @Override
      Block upper() {
        return new SequentialBlock().add(Dropout.builder().optRate(0.4f).build())
            .add(Linear.builder().setUnits(CLASSES).build());
      }
    },
    RECURRENT(new Shape(BATCH, 4, 5)) {
      @Override
      Block lower() {
        return Linear.builder().setUnits(6).build();
      }

      @Override
      Block upper() {
        return new SequentialBlock()
            .add(LSTM.builder().setNumLayers(1).setStateSize(5).optReturnState(false).build())
            .add(Blocks.batchFlattenBlock()).add(Linear.builder().setUnits(CLASSES).build());
      }
    };

    private final Shape input;

    Network(Shape input) {
      this.input = input;
    }

    abstract Block lower();

    abstract Block upper();
  }

  /** A part of the network in an engine. */
  private static final class Part implements AutoCloseable {
    private final NDManager manager = NDManager.newBaseManager();
    private final ParameterStore store = new ParameterStore(manager, false);
    private final Block block;

    Part(Block block, Shape input) {
      this.block = block;
      block.setInitializer(new NormalInitializer(0.3f), Parameter.Type.WEIGHT);
      block.initialize(manager, DataType.FLOAT32, input);
    }

    NDArray forward(NDArray input, int seed) {
      Engines.current().setRandomSeed(seed); // of this batch: dropout is the same wherever the part is computed
      return forward(input);
    }

    NDArray forward(NDArray input) {
      return block.forward(store, new NDList(input), true).singletonOrThrow();
    }

    /** Takes over the values of all parameters of a block with the same parameters. */
    void take(Part other) {
      List<Parameter> theirs = other.block.getParameters().values();
      List<Parameter> own = block.getParameters().values();
      for (int i = 0; i < own.size(); i++) {
        own.get(i).getArray().set(theirs.get(i).getArray().toFloatArray());
      }
    }

    /** Returns gradients, and for parameters without one the values. */
    void seen(String what, Map<String, float[]> out) {
      for (Pair<String, Parameter> p : block.getParameters()) {
        NDArray array = p.getValue().getArray();
        out.put(what + p.getKey(), (p.getValue().requiresGradient() ? array.getGradient() : array).toFloatArray());
      }
    }

    @Override
    public void close() {
      manager.close();
    }
  }

  /** The answer of the part that is computed elsewhere. */
  private record Answer(float[] outputs, float[] inputGradient, float loss, List<float[]> gradients) {}

  private static float[] random(Random random, Shape shape) {
    float[] values = new float[(int) shape.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static float[] labels(Random random) {
    float[] labels = new float[BATCH];
    for (int i = 0; i < BATCH; i++) {
      labels[i] = random.nextInt(CLASSES);
    }
    return labels;
  }

  private static <T> T elsewhere(Supplier<T> part) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        answer.complete(part.get());
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    }, "upper part");
    thread.start();
    return answer.join();
  }

  private static Answer remote(Part upper, float[] activations, Shape shape, float[] labels, int seed) {
    try (NDManager scope = upper.manager.newSubManager()) {
      NDArray input = scope.create(activations, shape);
      input.setRequiresGradient(true);
      NDArray wanted = scope.create(labels, new Shape(BATCH, 1));
      NDArray outputs;
      NDArray loss;
      try (GradientCollector collector = Engines.newGradientCollector()) {
        outputs = upper.forward(input, seed);
        loss = Loss.softmaxCrossEntropyLoss().evaluate(new NDList(wanted), new NDList(outputs));
        collector.backward(loss);
      }
      List<float[]> gradients = new ArrayList<>();
      upper.block.getParameters().values().stream().filter(Parameter::requiresGradient)
          .forEach(p -> gradients.add(p.getArray().getGradient().toFloatArray()));
      return new Answer(outputs.toFloatArray(), input.getGradient().toFloatArray(), loss.getFloat(), gradients);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givesTheBitsOfTheWholeNetwork_whenTheUpperPartIsComputedElsewhere(Network network) {
    Engines.start("auto", 1);
    try (Part lower = new Part(network.lower(), network.input)) {
      Shape between = lower.block.getOutputShapes(new Shape[] {network.input})[0];
      try (Part upper = new Part(network.upper(), between); Part copy = new Part(network.upper(), between)) {
        copy.take(upper);
        Random random = new Random(5);
        for (int step = 0; step < 2; step++) {
          int seed = 11 + step;
          float[] x = random(random, network.input);
          float[] y = labels(random);
          Map<String, float[]> whole = new LinkedHashMap<>();
          float loss;
          try (NDManager scope = lower.manager.newSubManager();
              GradientCollector collector = Engines.newGradientCollector()) {
            NDArray outputs = upper.forward(lower.forward(scope.create(x, network.input)), seed);
            NDArray wanted = scope.create(y, new Shape(BATCH, 1));
            NDArray l = Loss.softmaxCrossEntropyLoss().evaluate(new NDList(wanted), new NDList(outputs));
            collector.backward(l);
            loss = l.getFloat();
            lower.seen("lower ", whole);
            upper.seen("upper ", whole);
          }
          Map<String, float[]> cut = new LinkedHashMap<>();
          try (NDManager scope = lower.manager.newSubManager();
              GradientCollector collector = Engines.newGradientCollector()) {
            NDArray activations = lower.forward(scope.create(x, network.input));
            float[] crossing = activations.toFloatArray();
            Answer answer = elsewhere(() -> remote(copy, crossing, between, y, seed));
            assertThat(answer.loss()).isEqualTo(loss);
            NDArray given = scope.create(answer.inputGradient(), between);
            HeadGradients.backward(collector, List.of(activations), List.of(given));
            List<Parameter> trained = upper.block.getParameters().values().stream()
                .filter(Parameter::requiresGradient).toList();
            for (int i = 0; i < trained.size(); i++) {
              HeadGradients.set(trained.get(i).getArray(), FloatBuffer.wrap(answer.gradients().get(i)));
            }
            lower.seen("lower ", cut);
            copy.seen("copy ", cut);
            upper.seen("upper ", cut); // the gradients of the copy, set here
          }
          whole.forEach((name, values) -> {
            if (!name.contains("unning")) { // this part's own running values are those of the first pass alone
              assertThat(cut.get(name)).as(name).containsExactly(values);
            }
            if (name.startsWith("upper ")) {
              assertThat(cut.get(name.replace("upper ", "copy "))).as("elsewhere: " + name).containsExactly(values);
            }
          });
        }
      }
    }
  }
}
