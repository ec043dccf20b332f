package io.regatta.program.block;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.pooling.Pool;
import io.regatta.training.model.SyncBatchNorm;
import java.util.List;

/**
 * ResNet-50 (He et al., "Deep residual learning for image recognition", 2015, table 1). It has 53 convolutions without
 * bias, each with batch normalization, in bottlenecks of 1 x 1, 3 x 3 and 1 x 1, and one fully connected layer: 161
 * trained arrays. As in PaddlePaddle's quick start the 3 x 3 convolution of a stage's first bottleneck halves the
 * image. Stateless.
 */
public final class ResNet50Block {

  private static final int[] BOTTLENECKS = {3, 4, 6, 3};
  private static final int WIDTH = 64;
  private static final int EXPANSION = 4;

  private ResNet50Block() {}

  /**
   * Returns the network, not initialized.
   *
   * @param side of the square images, at least 32; they come as {@code [batch, 3 · side · side]}
   * @param syncNorm true to normalize batches over all ranks
   */
  public static Block of(int side, int classes, boolean syncNorm) {
    SequentialBlock net = new SequentialBlock()
        .add(new LambdaBlock(in -> new NDList(in.singletonOrThrow().reshape(-1, 3, side, side)), "image"));
    convolution(net, WIDTH, 7, 2, syncNorm);
    net.add(Activation::relu).add(Pool.maxPool2dBlock(new Shape(3, 3), new Shape(2, 2), new Shape(1, 1)));
    for (int stage = 0; stage < BOTTLENECKS.length; stage++) {
      for (int i = 0; i < BOTTLENECKS[stage]; i++) {
        net.add(bottleneck(WIDTH << stage, i == 0, stage > 0 && i == 0 ? 2 : 1, syncNorm)).add(Activation::relu);
      }
    }
    return net.add(Pool.globalAvgPool2dBlock()).add(Blocks.batchFlattenBlock())
        .add(Linear.builder().setUnits(classes).build());
  }

  /** @param projects true if the shortcut is a convolution, because the shape changes */
  private static Block bottleneck(int width, boolean projects, int stride, boolean syncNorm) {
    SequentialBlock through = new SequentialBlock();
    convolution(through, width, 1, 1, syncNorm);
    through.add(Activation::relu);
    convolution(through, width, 3, stride, syncNorm);
    through.add(Activation::relu);
    convolution(through, width * EXPANSION, 1, 1, syncNorm);
    SequentialBlock round = new SequentialBlock();
    if (projects) {
      convolution(round, width * EXPANSION, 1, stride, syncNorm);
    } else {
      round.add(Blocks.identityBlock());
    }
    return new ParallelBlock(outputs -> new NDList(outputs.get(0).head().add(outputs.get(1).head())),
        List.of(through, round));
  }

  private static void convolution(SequentialBlock to, int filters, int kernel, int stride, boolean syncNorm) {
    to.add(Conv2d.builder().setKernelShape(new Shape(kernel, kernel)).optStride(new Shape(stride, stride))
            .optPadding(new Shape(kernel / 2, kernel / 2)).optBias(false).setFilters(filters).build())
        .add(syncNorm ? new SyncBatchNorm() : BatchNorm.builder().build());
  }
}
