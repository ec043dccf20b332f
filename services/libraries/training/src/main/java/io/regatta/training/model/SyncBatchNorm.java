package io.regatta.training.model;

import ai.djl.mxnet.engine.MxGradientCollector;
import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Batch normalization (Ioffe and Szegedy 2015) with mean and variance over the batches of all ranks of a collective
 * job, as if they were one batch. It is for per-rank batches too small for statistics of their own (synchronized batch
 * normalization; Peng et al., "MegDet", 2018). Input {@code [batch, channels, ...]}, float32.
 *
 * <p>Forward and backward each wait for the other ranks, so all of them must take every step with a batch. Without
 * other ranks it is {@link ai.djl.nn.norm.BatchNorm}. MXNet only. The sums of a layer are of float32 elements minus the
 * running mean, which is the same on all ranks. Belongs to a model thread.
 */
public final class SyncBatchNorm extends AbstractBlock {

  private static final byte VERSION = 1;
  private static final float EPSILON = 1e-5f;
  private static final float MOMENTUM = 0.9f;

  private final Parameter gamma = addParameter(Parameter.builder().setName("gamma").setType(Parameter.Type.GAMMA).build());
  private final Parameter beta = addParameter(Parameter.builder().setName("beta").setType(Parameter.Type.BETA).build());
  private final Parameter runningMean = addParameter(Parameter.builder().setName("runningMean")
      .setType(Parameter.Type.RUNNING_MEAN).optRequiresGrad(false).build());
  private final Parameter runningVar = addParameter(Parameter.builder().setName("runningVar")
      .setType(Parameter.Type.RUNNING_VAR).optRequiresGrad(false).build());
  private BatchSums ranks = BatchSums.ALONE;

  public SyncBatchNorm() {
    super(VERSION);
  }

  /** Sets the ranks whose sums are combined. */
  public void attach(BatchSums sums) {
    ranks = sums;
  }

  @Override
  protected void prepare(Shape[] inputShapes) {
    Shape channels = new Shape(inputShapes[0].get(1));
    gamma.setShape(channels);
    beta.setShape(channels);
    runningMean.setShape(channels);
    runningVar.setShape(channels);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return inputShapes;
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training, PairList<String, Object> params) {
    NDArray x = inputs.singletonOrThrow();
    if (!(x instanceof MxNDArray)) {
      throw new InvalidInput("SyncBatchNorm requires MXNet's custom functions for its gradient; use engine: MXNet, or BatchNorm");
    }
    Shape wide = wide(x.getShape());
    NDArray scale = store.getValue(gamma, x.getDevice(), training).reshape(wide);
    NDArray shift = store.getValue(beta, x.getDevice(), training).reshape(wide);
    NDArray mean = store.getValue(runningMean, x.getDevice(), training);
    NDArray variance = store.getValue(runningVar, x.getDevice(), training);
    NDArray normalised = training && MxGradientCollector.isRecording() ? overRanks(x, mean, variance)
        : x.sub(mean.reshape(wide)).div(variance.add(EPSILON).sqrt().reshape(wide));
    return new NDList(normalised.mul(scale).add(shift));
  }

  /** Returns {@code [1, channels, 1, ...]}. */
  private static Shape wide(Shape shape) {
    long[] dims = new long[shape.dimension()];
    Arrays.fill(dims, 1);
    dims[1] = shape.get(1);
    return new Shape(dims);
  }

  private NDArray overRanks(NDArray x, NDArray mean, NDArray variance) {
    int channels = (int) x.getShape().get(1);
    long rows = x.getShape().get(0);
    Moments all = new Moments(channels, rows);
    float[] inverse = new float[channels];
    NDArray normalised = CustomFunction.unrecorded(() -> {
      try (NDManager scope = x.getManager().newSubManager()) {
        Shape wide = wide(x.getShape());
        float[] running = mean.toFloatArray();
        NDArray centred = x.sub(mean.reshape(wide));
        centred.attach(scope);
        float[] sums = sums(scope, centred, centred, 2 * channels + 1);
        sums[2 * channels] = x.size() / channels;
        all.layer = ranks.forward(sums);
        all.elements = sums[2 * channels];
        float[] means = new float[channels];
        float[] variances = new float[channels];
        for (int c = 0; c < channels; c++) {
          double off = sums[c] / all.elements;
          double var = Math.max(0, sums[channels + c] / all.elements - off * off);
          means[c] = (float) (running[c] + off);
          variances[c] = (float) var;
          inverse[c] = (float) (1 / Math.sqrt(var + EPSILON));
        }
        NDArray newMean = scope.create(means);
        NDArray result = x.sub(newMean.reshape(wide)).mul(scope.create(inverse).reshape(wide));
        mean.muli(MOMENTUM).addi(newMean.mul(1 - MOMENTUM));
        variance.muli(MOMENTUM).addi(scope.create(variances).mul(1 - MOMENTUM));
        result.attach(x.getManager());
        return result;
      }
    });
    NDArray kept = normalised.duplicate(); // without the tape
    CustomFunction.record(x, normalised, gradient -> backward(gradient, kept, inverse, all));
    return normalised;
  }

  /** The results of a layer's forward pass that its backward pass needs. */
  private static final class Moments {
    private final int channels;
    private final long rows;
    private int layer;
    private double elements;

    Moments(int channels, long rows) {
      this.channels = channels;
      this.rows = rows;
    }
  }

  /**
   * Computes the gradient by the chain rule through the common mean and variance. A rank's loss is the mean over its
   * own rows and is weighted by them. So its sums are weighted by rows, and the result is divided by its own.
   */
  private NDArray backward(NDArray gradient, NDArray normalised, float[] inverse, Moments all) {
    NDManager scope = gradient.getManager();
    Shape wide = wide(gradient.getShape());
    float[] sums = sums(scope, gradient, normalised, 2 * all.channels);
    for (int i = 0; i < sums.length; i++) {
      sums[i] *= all.rows;
    }
    ranks.backward(all.layer, sums);
    float[] direct = new float[all.channels];
    float[] along = new float[all.channels];
    for (int c = 0; c < all.channels; c++) {
      direct[c] = (float) (sums[c] / all.rows / all.elements);
      along[c] = (float) (sums[all.channels + c] / all.rows / all.elements);
    }
    NDArray result = gradient.sub(scope.create(direct).reshape(wide))
        .sub(normalised.mul(scope.create(along).reshape(wide))).mul(scope.create(inverse).reshape(wide));
    return result;
  }

  /** Returns Σ a and Σ a·b by channel, in an array of this length. */
  private static float[] sums(NDManager scope, NDArray a, NDArray b, int length) {
    int[] axes = IntStream.range(0, a.getShape().dimension()).filter(axis -> axis != 1).toArray();
    float[] sums = new float[length];
    try (NDArray first = a.sum(axes); NDArray second = a.mul(b).sum(axes)) {
      float[] plain = first.toFloatArray();
      System.arraycopy(plain, 0, sums, 0, plain.length);
      System.arraycopy(second.toFloatArray(), 0, sums, plain.length, plain.length);
    }
    return sums;
  }

  @Override
  protected void beforeInitialize(Shape... inputShapes) {
    super.beforeInitialize(inputShapes);
    if (inputShapes[0].dimension() < 2) {
      throw new InvalidInput("SyncBatchNorm takes [batch, channels, ...], not " + inputShapes[0]);
    }
  }

}
