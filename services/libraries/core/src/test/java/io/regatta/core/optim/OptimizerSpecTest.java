package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class OptimizerSpecTest {

  private static final LearningRate RATE = LearningRate.constant(0.1);

  static Stream<String> names() {
    return OptimizerRegistry.names().stream();
  }

  @ParameterizedTest
  @CsvSource({"weight_decay,-0.1", "clip_value,-1", "clip_norm,-1", "clip_norm,Infinity"})
  void refusesWrongValuesThatAllHaveByName(String key, float value) {
    assertThatThrownBy(() -> new OptimizerSpec(new Sgd(), RATE, key.equals("weight_decay") ? value : 0,
        key.equals("clip_value") ? value : 0, key.equals("clip_norm") ? value : 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer sgd: " + key + " is " + value);
  }

  @ParameterizedTest
  @CsvSource({"momentum,momentum,1", "momentum,momentum,-0.1", "adagrad,epsilon,0", "adagrad,initial_accumulator,-1",
      "adam,beta1,1", "adam,beta2,1", "adam,beta2,-0.5", "adam,epsilon,0", "ftrl,initial_accumulator,-1", "ftrl,l1,-1",
      "ftrl,l2,-1", "ftrl,beta,-1", "ftrl,beta,0", "ftrl,beta,NaN"})
  void refusesWrongHyperparametersByName(String name, String key, float value) {
    assertThatThrownBy(() -> OptimizerRegistry.named(name).of(Map.of(key, value))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer " + name + ": " + key + " is " + value);
  }

  /** A record can be made without its type, and is checked where it becomes part of a specification. */
  @Test
  void refusesARecordOutOfRange() {
    assertThatThrownBy(() -> OptimizerSpec.of(new Momentum(1, false), 0.1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer momentum: momentum is 1.0, it must be 0 or more and below 1");
  }

  @ParameterizedTest
  @CsvSource({"momentum,momentum", "adam,beta1"})
  void allowsBounds(String name, String key) {
    assertThat(OptimizerRegistry.named(name).of(Map.of(key, 0f))).isNotNull();
  }

  @Test
  void ftrlDividesByBetaAccumulatorOrL2() {
    for (float[] v : new float[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) {
      assertThat(new Ftrl(v[0], 0, v[1], v[2]).beta()).isEqualTo(v[0]);
    }
    assertThatThrownBy(() -> new Ftrl(0, 0, 0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("they divide");
  }

  @Test
  void namesAreThoseOfJobFiles() {
    assertThat(OptimizerRegistry.names()).startsWith("sgd", "momentum", "adagrad", "adam", "ftrl").doesNotHaveDuplicates();
    assertThatThrownBy(() -> OptimizerRegistry.named("adamax")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer 'adamax' is unknown; choose one of [sgd, momentum");
    assertThatThrownBy(() -> OptimizerRegistry.named("adam").of(Map.of("beta3", 1f))).isInstanceOf(InvalidInput.class)
        .hasMessage("optimizer adam has no hyperparameter 'beta3'; it has [beta1, beta2, epsilon]");
    assertThatThrownBy(() -> OptimizerRegistry.named("momentum").of(Map.of("nesterov", 1f))).isInstanceOf(InvalidInput.class)
        .hasMessage("optimizer momentum: nesterov is 1.0, it must be true or false");
  }

  /** The values derived from a record give the record again, whatever its hyperparameters are. */
  @ParameterizedTest
  @MethodSource("names")
  void anOptimizerIsMadeOfItsOwnValues(String name) {
    OptimizerType type = OptimizerRegistry.named(name);
    Map<String, Object> values = new LinkedHashMap<>();
    float next = 0.125f;
    for (OptimizerType.Parameter p : type.parameters()) {
      values.put(p.key(), p.isFlag() ? (Object) !Boolean.parseBoolean(p.defaultText()) : (Object) (next += 0.0625f));
    }
    OptimizerSpec spec = new OptimizerSpec(type.of(values), RATE, 0, 0, 0);
    assertThat(spec.name()).isEqualTo(name);
    assertThat(spec.hyperparameters()).isEqualTo(values);
    assertThat(type.of(Map.of())).isEqualTo(type.defaults());
  }

  /** Everybody who reads a job file, a page or a message relies on these. */
  @ParameterizedTest
  @MethodSource("names")
  void everyDefinitionIsComplete(String name) {
    OptimizerType type = OptimizerRegistry.named(name);
    assertThat(type.rule().formula()).isNotBlank();
    assertThat(type.rule().source()).isNotBlank();
    assertThat(type.parameters()).allSatisfy(p -> assertThat(p.doc()).endsWith("."));
    assertThat(type.defaults().slots()).extracting(Optimizer.Slot::name).doesNotHaveDuplicates();
    for (OptimizerType other : OptimizerRegistry.all()) {
      for (OptimizerType.Parameter p : type.parameters()) {
        other.parameters().stream().filter(o -> o.key().equals(p.key())).forEach(o -> {
          assertThat(o.isFlag()).as("one type for %s", p.key()).isEqualTo(p.isFlag());
          if (!o.defaultText().equals(p.defaultText()) && o.range() != Hyperparameter.Range.POSITIVE) {
            assertThat(o.defaultText()).as("%s: 0 means the optimizer's own default", p.key()).isEqualTo("0");
          }
        });
      }
    }
  }

  @Test
  void schedulesOfTheSameRatesAreEqualWhenUsed() {
    LearningRate here = new LearningRate(LearningRate.Kind.CONSTANT, 0.5, 0, 1, false, List.of(), List.of(), 0, 0, 0, 0);
    LearningRate there = new LearningRate(LearningRate.Kind.CONSTANT, 0.5, 7, 0, true, List.of(3L), List.of(), 5, 1, 0, 2);
    assertThat(OptimizerSpec.of(new Sgd(), here)).isNotEqualTo(OptimizerSpec.of(new Sgd(), there));
    assertThat(OptimizerSpec.of(new Sgd(), here).used()).isEqualTo(OptimizerSpec.of(new Sgd(), there).used());
  }
}
