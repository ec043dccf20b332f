package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptimizerSpecTest {

  private static final LearningRate RATE = LearningRate.constant(0.1);

  /** A sound optimizer of any kind, but for one value. */
  private static OptimizerSpec with(Kind kind, String key, float value) {
    return new OptimizerSpec(kind, RATE, of(key, "momentum", value, 0.9f), false, of(key, "beta1", value, 0.9f),
        of(key, "beta2", value, 0.999f), of(key, "epsilon", value, 1e-6f), of(key, "initial_accumulator", value, 0),
        of(key, "weight_decay", value, 0), of(key, "clip_value", value, 0), of(key, "clip_norm", value, 0),
        of(key, "beta", value, 1), of(key, "l1", value, 0), of(key, "l2", value, 0));
  }

  private static float of(String key, String name, float value, float otherwise) {
    return key.equals(name) ? value : otherwise;
  }

  @ParameterizedTest
  @CsvSource({"SGD,weight_decay,-0.1", "SGD,clip_value,-1", "SGD,clip_norm,-1", "SGD,clip_norm,Infinity", "MOMENTUM,momentum,1",
      "MOMENTUM,momentum,-0.1", "ADAGRAD,epsilon,0", "ADAGRAD,initial_accumulator,-1", "ADAM,beta1,1", "ADAM,beta2,1",
      "ADAM,beta2,-0.5", "ADAM,epsilon,0", "FTRL,initial_accumulator,-1", "FTRL,l1,-1", "FTRL,l2,-1", "FTRL,beta,-1",
      "FTRL,beta,0", "FTRL,beta,NaN"})
  void refusesWrongValuesByName(Kind kind, String key, float value) {
    assertThatThrownBy(() -> with(kind, key, value)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("optimizer " + kind.name().toLowerCase() + ": " + key + " is " + value);
  }

  @ParameterizedTest
  @CsvSource({"MOMENTUM,momentum,0", "ADAM,beta1,0", "SGD,momentum,7", "ADAGRAD,beta1,7", "MOMENTUM,epsilon,0", "ADAM,l1,-1"})
  void allowsBounds_andWhatItsKindDoesNotUse(Kind kind, String key, float value) {
    assertThat(with(kind, key, value).kind()).isEqualTo(kind);
  }

  @Test
  void ftrlDividesByBetaAccumulatorOrL2() {
    for (float[] v : new float[][] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) {
      assertThat(ftrl(v[0], v[1], v[2]).beta()).isEqualTo(v[0]);
    }
    assertThatThrownBy(() -> ftrl(0, 0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("they divide");
  }

  private static OptimizerSpec ftrl(float beta, float accumulator, float l2) {
    return new OptimizerSpec(Kind.FTRL, RATE, 0, false, 0, 0, 0, accumulator, 0, 0, 0, beta, 0, l2);
  }

  /** Everything is set; what a kind uses, and what all use, is left. */
  @Test
  void usedLeavesOutWhatTheKindDoesNotUse() {
    for (Kind kind : Kind.values()) {
      OptimizerSpec used = new OptimizerSpec(kind, RATE, 0.5f, true, 0.25f, 0.75f, 2, 3, 4, 5, 6, 7, 8, 9).used();
      assertThat(used).isEqualTo(switch (kind) {
        case SGD -> new OptimizerSpec(kind, RATE, 0, false, 0, 0, 0, 0, 4, 5, 6);
        case MOMENTUM -> new OptimizerSpec(kind, RATE, 0.5f, true, 0, 0, 0, 0, 4, 5, 6);
        case ADAGRAD -> new OptimizerSpec(kind, RATE, 0, false, 0, 0, 2, 3, 4, 5, 6);
        case ADAM -> new OptimizerSpec(kind, RATE, 0, false, 0.25f, 0.75f, 2, 0, 4, 5, 6);
        case FTRL -> new OptimizerSpec(kind, RATE, 0, false, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9);
      });
    }
  }
}
