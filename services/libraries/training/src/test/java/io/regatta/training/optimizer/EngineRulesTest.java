package io.regatta.training.optimizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.util.PairList;
import io.regatta.core.optim.Lamb;
import io.regatta.core.optim.Lars;
import io.regatta.core.optim.TensorNorms;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.core.optim.UpdateStep;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** LAMB and LARS against the operators of the engine, which another team has written. */
class EngineRulesTest {

  private static final int SIZE = 400;
  private static final int STEPS = 5;
  private static final float RATE = 0.02f;
  private static final float DECAY = 0.01f;
  private static final float CLIP = 1.5f;

  private static float[] gaussian(Random random) {
    float[] out = new float[SIZE];
    for (int i = 0; i < SIZE; i++) {
      out[i] = (float) random.nextGaussian();
    }
    return out;
  }

  private static PairList<String, Object> parameters(Object... keysAndValues) {
    PairList<String, Object> parameters = new PairList<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      parameters.add((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return parameters;
  }

  private static float[] ours(TensorwiseOptimizer optimizer) {
    Random random = new Random(3);
    float[] w = gaussian(random);
    float[][] slots = new float[optimizer.slots().size()][SIZE];
    for (int t = 1; t <= STEPS; t++) {
      float[] g = gaussian(random);
      UpdateStep step = new UpdateStep(RATE, t, CLIP, DECAY);
      TensorNorms norms = new TensorNorms(2);
      optimizer.measure(w, slots, g, 0, SIZE, step, norms);
      optimizer.apply(w, slots, g, 0, SIZE, step, norms);
    }
    return w;
  }

  private static void assertSame(float[] ours, float[] engines) {
    for (int i = 0; i < SIZE; i++) {
      assertThat(ours[i]).as("element %d", i).isCloseTo(engines[i], within(1e-6f * Math.max(1, Math.abs(engines[i]))));
    }
  }

  @Test
  void lambIsTheEngines() {
    try (NDManager manager = NDManager.newBaseManager()) {
      Random random = new Random(3);
      NDArray w = manager.create(gaussian(random));
      NDArray m = manager.create(new float[SIZE]);
      NDArray v = manager.create(new float[SIZE]);
      for (int t = 1; t <= STEPS; t++) {
        NDArray g = manager.create(gaussian(random));
        NDArray u = manager.invoke("lamb_update_phase1", new NDList(w, g, m, v), parameters("beta1", 0.9f, "beta2", 0.999f,
            "epsilon", 1e-6f, "t", t, "bias_correction", true, "wd", DECAY, "rescale_grad", 1f, "clip_gradient", CLIP)).singletonOrThrow();
        NDArray weights = manager.create(new float[] {w.norm().getFloat()});
        NDArray updates = manager.create(new float[] {u.norm().getFloat()});
        w = manager.invoke("lamb_update_phase2", new NDList(w, u, weights, updates), parameters("lr", RATE)).singletonOrThrow();
      }
      assertSame(ours(new Lamb(0.9f, 0.999f, 1e-6f, 0, true)), w.toFloatArray());
    }
  }

  @Test
  void larsIsTheEngines() {
    try (NDManager manager = NDManager.newBaseManager()) {
      Random random = new Random(3);
      NDArray w = manager.create(gaussian(random));
      NDArray velocity = manager.create(new float[SIZE]);
      for (int t = 1; t <= STEPS; t++) {
        NDArray g = manager.create(gaussian(random)).clip(-CLIP, CLIP);
        NDArray rates = manager.create(new float[] {RATE});
        NDArray weights = manager.create(new float[] {w.square().sum().getFloat()});
        NDArray gradients = manager.create(new float[] {g.square().sum().getFloat()});
        NDArray decays = manager.create(new float[] {DECAY});
        float rate = manager.invoke("multi_lars", new NDList(rates, weights, gradients, decays),
            parameters("eta", 0.1f, "eps", 1e-3f)).singletonOrThrow().getFloat(0);
        w = manager.invoke("sgd_mom_update", new NDList(w, g, velocity),
            parameters("lr", rate, "momentum", 0.9f, "wd", DECAY)).singletonOrThrow();
      }
      assertSame(ours(new Lars(0.9f, 0.1f, 1e-3f, 0, true)), w.toFloatArray());
    }
  }
}
