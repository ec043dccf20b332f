package io.regatta.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ModelSpecTest {

  private static final DenseVariable WEIGHT = new DenseVariable("fc.weight", List.of(3, 4));
  private static final DenseVariable BIAS = new DenseVariable("fc.bias", List.of(3));
  private static final OptimizerSpec SGD = OptimizerSpec.sgd(0.1);

  private static SparseTableSpec table(String name, int dim, float bound, double rate) {
    return new SparseTableSpec(name, dim, InitializerSpec.uniform(-bound, bound), OptimizerSpec.of("adam", rate));
  }

  private static ModelSpec model() {
    return new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of(table("emb", 10, 0.5f, 0.001)));
  }

  /** Computed by a separate program from the canonical bytes: trainers of two releases must agree on it. */
  @Test
  void digestIsStable() {
    assertThat(model().digest()).isEqualTo("88422ce92cdcee87");
    assertThat(model()).isEqualTo(model());
  }

  /** Two models are used alike if, and only if, what is used of them is equal. */
  @Test
  void isUsedAsAnotherThatDiffersInUnusedSettingsOnly() {
    List<ModelSpec> models = new ArrayList<>(differentModels());
    models.add(new ModelSpec(42, List.of(), OptimizerSpec.sgd(0.1), List.of()));
    models.add(new ModelSpec(42, List.of(), OptimizerSpec.sgd(0.2), List.of())); // of no variable
    for (float unused : new float[] {0, 1, 2}) {
      models.add(new ModelSpec(1, List.of(), SGD, List.of(table("first", 1, 1, 0.1), new SparseTableSpec("second", 1,
          new InitializerSpec(InitializerSpec.Kind.CONSTANT, 3, unused), SGD))));
    }
    int pairs = 0;
    for (ModelSpec a : models) {
      for (ModelSpec b : models) {
        assertThat(a.isUsedAs(b)).isEqualTo(a.used().equals(b.used()));
        pairs += a != b && a.isUsedAs(b) ? 1 : 0;
      }
    }
    assertThat(pairs).as("that differ, but not in what is used").isEqualTo(8);
  }

  @Test
  void digestSeesEveryDifference() {
    Set<String> digests = new HashSet<>();
    List<ModelSpec> models = differentModels();
    for (ModelSpec m : models) {
      digests.add(m.digest());
    }
    assertThat(digests).hasSize(models.size());
  }

  private static List<ModelSpec> differentModels() {
    List<SparseTableSpec> emb = List.of(table("emb", 10, 0.5f, 0.001));
    return List.of(
        model(),
        new ModelSpec(43, List.of(WEIGHT, BIAS), SGD, emb),
        new ModelSpec(42, List.of(BIAS, WEIGHT), SGD, emb),
        new ModelSpec(42, List.of(WEIGHT), SGD, emb),
        new ModelSpec(42, List.of(new DenseVariable("fc.weight", List.of(4, 3)), BIAS), SGD, emb),
        new ModelSpec(42, List.of(new DenseVariable("fc.weight", List.of(12)), BIAS), SGD, emb),
        new ModelSpec(42, List.of(WEIGHT, BIAS), OptimizerSpec.sgd(0.2), emb),
        new ModelSpec(42, List.of(WEIGHT, BIAS), OptimizerSpec.of(new Momentum(0.9f, false), 0.1), emb),
        new ModelSpec(42, List.of(WEIGHT, BIAS), OptimizerSpec.of(new Momentum(0.9f, true), 0.1), emb),
        new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of()),
        new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of(table("emc", 10, 0.5f, 0.001))),
        new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of(table("emb", 11, 0.5f, 0.001))),
        new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of(table("emb", 10, 0.4f, 0.001))),
        new ModelSpec(42, List.of(WEIGHT, BIAS), SGD, List.of(table("emb", 10, 0.5f, 0.002))));
  }

  @Test
  void countsElements() {
    assertThat(model().denseNumel()).isEqualTo(15);
    assertThat(new DenseVariable("scalar", List.of()).numel()).isEqualTo(1);
  }

  @Test
  void keepsItsOwnCopies() {
    List<DenseVariable> dense = new ArrayList<>(List.of(WEIGHT));
    ModelSpec m = new ModelSpec(1, dense, SGD, List.of());
    dense.clear();
    assertThat(m.dense()).containsExactly(WEIGHT);
  }

  @Test
  void wrongModelsAreRefusedByName() {
    assertRefused(() -> new ModelSpec(1, List.of(WEIGHT, WEIGHT), SGD, List.of()), "called fc.weight");
    assertRefused(() -> new ModelSpec(1, List.of(WEIGHT), SGD, List.of(table("fc.weight", 1, 1, 1))), "unique");
    assertRefused(() -> new DenseVariable("", List.of(1)), "dense variable has no name");
    assertRefused(() -> new DenseVariable("w", List.of(3, 0)), "dense variable w has shape [3, 0]");
    assertRefused(() -> new DenseVariable("w", List.of(1 << 16, 1 << 16)), "2^31-1");
    assertRefused(() -> new DenseVariable("w", List.of(1 << 30, 1 << 30, 1 << 30, 1 << 30)), "2^31-1");
    assertRefused(() -> table("emb", 0, 1, 1), "sparse table emb has dim 0");
    assertRefused(() -> table(" ", 1, 1, 1), "sparse table has no name");
    DenseVariable large = new DenseVariable("a", List.of(1 << 30));
    DenseVariable second = new DenseVariable("b", List.of(1 << 30));
    assertRefused(() -> new ModelSpec(1, List.of(large, second), SGD, List.of()), "2147483648 dense elements");
  }

  private static void assertRefused(Runnable what, String text) {
    assertThatThrownBy(what::run).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }
}
