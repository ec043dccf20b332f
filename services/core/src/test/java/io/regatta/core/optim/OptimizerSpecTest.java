package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptimizerSpecTest {

  @ParameterizedTest
  @CsvSource({"sgd,weight_decay,-0.1", "sgd,clip_value,-1", "momentum,momentum,1", "momentum,momentum,-0.1", "adagrad,epsilon,0",
      "adagrad,initial_accumulator,-1", "adam,beta1,1", "adam,beta2,1", "adam,beta2,-0.5", "adam,epsilon,0",
      "ftrl,initial_accumulator,-1", "ftrl,l1,-1", "ftrl,l2,-1", "ftrl,beta,-1", "ftrl,beta,0", "ftrl,beta,NaN"})
  void refusesWrongValuesByName(String name, String key, double value) {
    assertThatThrownBy(() -> Optimizers.get(name).of(Map.of(key, value))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer " + name + ": " + key + " is ");
  }

  @Test
  void refusesWrongValuesOfRecordsMadeInCode() {
    assertThatThrownBy(() -> new OptimizerSpec(new Adam(Regularization.NONE, 0.9f, 1, 1e-8f), 0.1))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("optimizer adam: beta2 is 1, it must be 0 or more and below 1");
    for (float limit : new float[] {-1, Float.POSITIVE_INFINITY, Float.NaN}) {
      assertThatThrownBy(() -> new OptimizerSpec(new Sgd(Regularization.NONE), LearningRate.constant(1), limit))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("optimizer sgd: clip_norm is ");
    }
  }

  @ParameterizedTest
  @CsvSource({"momentum,momentum,0", "adam,beta1,0"})
  void allowsBounds(String name, String key, double value) {
    assertThat(Optimizers.get(name).values(Optimizers.get(name).of(Map.of(key, value)))).containsEntry(key, value);
  }

  @Test
  void ftrlDividesByBetaAccumulatorOrL2() {
    for (double[] v : new double[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) {
      assertThat(ftrl(v[0], v[1], v[2])).isInstanceOf(Ftrl.class);
    }
    assertThatThrownBy(() -> ftrl(0, 0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("they divide");
  }

  private static Optimizer ftrl(double beta, double accumulator, double l2) {
    return Optimizers.get("ftrl").of(Map.of("beta", beta, "initial_accumulator", accumulator, "l2", l2));
  }

  @Test
  void definitionsAreReadFromRecords() {
    Definition adam = Optimizers.get("adam");
    assertThat(adam.keys().stream().map(Definition.Key::name))
        .containsExactly("weight_decay", "clip_value", "beta1", "beta2", "epsilon");
    assertThat(adam.defaults()).isEqualTo(new Adam(Regularization.NONE, 0.9f, 0.999f, 1e-8f));
    assertThat(Optimizers.get("momentum").of(Map.of("nesterov", 1.0, "clip_value", 2.0, "unused", 3.0)))
        .isEqualTo(new Momentum(new Regularization(0, 2), 0.9f, true));
    assertThatThrownBy(() -> Optimizers.get("adm")).isInstanceOf(InvalidInput.class).hasMessageContaining("'adm'")
        .hasMessageContaining("adagrad");
  }

  /** Every optimizer comes back from its values; all differ by name. */
  @Test
  void valuesMakeTheSameOptimizer() {
    for (Definition d : Optimizers.all()) {
      assertThat(d.of(d.values(d.defaults()))).isEqualTo(d.defaults());
      assertThat(Optimizers.of(d.defaults())).isSameAs(d);
    }
    assertThat(Optimizers.names()).doesNotHaveDuplicates();
  }

  /** Hash of weights and slots after 20 updates: results of saved runs must not change. */
  @ParameterizedTest
  @CsvSource({"sgd,false,false,78d3ab97", "sgd,false,true,4d6b1847", "momentum,false,false,bb7345d2",
      "momentum,true,false,a29328f8", "momentum,false,true,5b6f8f23", "momentum,true,true,5441b6a3",
      "adagrad,false,false,62891681", "adagrad,false,true,48b69280", "adam,false,false,c5a192da", "adam,false,true,626e7d1b",
      "ftrl,false,false,ff645543", "ftrl,false,true,dbc1c0bd"})
  void bitsAreThoseOfEarlierReleases(String name, boolean nesterov, boolean regularized, String hash) {
    ElementwiseOptimizer o = OptimizerTest.spec(name, nesterov, regularized ? 0.01f : 0, regularized ? 0.5f : 0,
        Map.of("beta", 0.5, "l1", (double) 0.1f, "l2", (double) 0.2f)).elementwise();
    Random random = new Random(7);
    float[] w = gaussian(random, 1000);
    float[][] slots = new float[o.slots()][w.length];
    for (int k = 0; k < slots.length; k++) {
      Arrays.fill(slots[k], o.initialSlot(k));
    }
    for (int t = 1; t <= 20; t++) {
      o.applyBlock(w, slots, gaussian(random, w.length), 0.05f, t);
    }
    assertThat(Integer.toHexString(Arrays.hashCode(w) * 31 + Arrays.deepHashCode(slots))).isEqualTo(hash);
  }

  private static float[] gaussian(Random random, int n) {
    float[] out = new float[n];
    for (int i = 0; i < n; i++) {
      out[i] = (float) random.nextGaussian();
    }
    return out;
  }

  @Test
  void usedLeavesOutWhatTheScheduleDoesNotUse() {
    LearningRate full = new LearningRate(LearningRate.Kind.CONSTANT, 0.5, 7, 0, true, List.of(3L), List.of(), 5, 1, 0, 2);
    assertThat(new OptimizerSpec(new Sgd(Regularization.NONE), full, 0).used()).isEqualTo(OptimizerSpec.sgd(0.5));
  }
}
