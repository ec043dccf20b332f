package io.regatta.load.train;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.SplittableRandom;

/**
 * DJL alone with CTR-DNN's network, with dense features and embedding rows in memory. They are set; then forward, loss,
 * backward (down to the rows' gradients, which are not read) and SGD on the dense weights follow. The loss is read at
 * each step, as the program does. Owned by the worker's main thread.
 */
final class BareNetwork implements Task {
  private static final int DENSE = 13;
  private static final int SLOTS = 26;
  private static final int DIM = 10;
  private static final int CLASSES = 2;
  private static final int[] HIDDEN = {400, 400, 400};

  private final int batch;
  private final Model model = Model.newInstance("bare");
  private final Trainer trainer;
  private final FloatBuffer dense;
  private final FloatBuffer rows;
  private final float[] labels;

  BareNetwork(int batch) {
    this.batch = batch;
    System.setProperty("ai.djl.use_local_parameter_server", "true");
    SequentialBlock layers = new SequentialBlock().add(new LambdaBlock(in ->
        new NDList(in.get(1).reshape(batch, SLOTS * DIM).concat(in.get(0), 1))));
    for (int units : HIDDEN) {
      layers.add(Linear.builder().setUnits(units).build()).add(Activation::relu);
    }
    model.setBlock(layers.add(Linear.builder().setUnits(CLASSES).build()));
    trainer = model.newTrainer(new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
        .optOptimizer(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.1f)).build()));
    trainer.initialize(new Shape(batch, DENSE), new Shape(batch, SLOTS, DIM));
    SplittableRandom random = new SplittableRandom(1);
    dense = random(random, batch * DENSE);
    rows = random(random, batch * SLOTS * DIM);
    labels = new float[batch];
    for (int i = 0; i < batch; i++) {
      labels[i] = random.nextInt(CLASSES);
    }
  }

  private static FloatBuffer random(SplittableRandom random, int n) {
    FloatBuffer values = ByteBuffer.allocateDirect(n * Float.BYTES).order(ByteOrder.nativeOrder()).asFloatBuffer();
    for (int i = 0; i < n; i++) {
      values.put(i, (float) random.nextDouble() * 0.1f - 0.05f);
    }
    return values;
  }

  /** Trains this number of {@code examples}, in whole batches. */
  @Override
  public JsonObject run(JsonObject command) {
    int steps = command.getInteger("examples") / batch;
    double loss = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < steps; i++) {
      loss += step();
    }
    double seconds = (System.nanoTime() - begin) * 1e-9;
    return new JsonObject().put("examples", steps * (long) batch).put("train_seconds", seconds)
        .put("loss", loss / steps).put("where", "");
  }

  private float step() {
    try (NDManager scope = trainer.getManager().newSubManager()) {
      NDArray features = scope.create(new Shape(batch, DENSE), DataType.FLOAT32);
      features.set(dense.duplicate());
      NDArray embedded = scope.create(new Shape(batch, SLOTS, DIM), DataType.FLOAT32);
      embedded.set(rows.duplicate());
      embedded.setRequiresGradient(true);
      NDArray wanted = scope.create(labels);
      NDArray loss;
      try (GradientCollector gradients = trainer.newGradientCollector()) {
        NDList in = new NDList(features, embedded);
        in.attach(scope);
        loss = trainer.getLoss().evaluate(new NDList(wanted), trainer.forward(in));
        gradients.backward(loss);
      }
      trainer.step();
      return loss.getFloat();
    }
  }

  @Override
  public void close() {
    trainer.close();
    model.close();
  }
}
