package io.regatta.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.Pulled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The benchmark does what it says it measures: every row pulled, every pushed row changed. */
class ShardBenchmarkTest {

  @ParameterizedTest
  @ValueSource(strings = {"sgd", "momentum", "adagrad", "adam", "ftrl"})
  void pulls_and_pushes_all_rows(String optimizer) {
    ShardBenchmark benchmark = new ShardBenchmark();
    benchmark.rows = 20_000;
    benchmark.optimizer = optimizer;
    benchmark.fill();

    Pulled before = benchmark.pull();
    assertThat(before.sparse().get(0).values()).hasSize(ShardBenchmark.ROWS * ShardBenchmark.DIM);
    for (int i = 0; i < 64; i++) { // the 64th push goes to the rows pulled first
      assertThat(benchmark.push().version()).isEqualTo(i + 1);
    }
    Pulled after = benchmark.pull();
    assertThat(after.version()).isEqualTo(64);
  }
}
