package io.regatta.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.WireType;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The benchmarks do what they say they measure. */
class BenchmarksTest {

  @Test
  void the_table_keeps_its_size_or_grows() {
    TableBenchmark benchmark = new TableBenchmark();
    TableBenchmark.Filled filled = new TableBenchmark.Filled();
    filled.rows = 20_000;
    filled.fill();
    float[] before = benchmark.pull(filled);
    assertThat(before).hasSize(TableBenchmark.ROWS * TableBenchmark.DIM);
    benchmark.push(filled);
    assertThat(benchmark.find(filled)).isZero();
    assertThat(filled.table.size()).isEqualTo(20_480); // whole requests

    TableBenchmark.Growing growing = new TableBenchmark.Growing();
    growing.begin();
    benchmark.growth(growing);
    benchmark.growth(growing);
    assertThat(growing.table.size()).isEqualTo(2 * TableBenchmark.ROWS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sgd", "momentum", "adagrad", "adam", "ftrl"})
  void every_rule_moves_all_weights(String kind) {
    OptimizerBenchmark benchmark = new OptimizerBenchmark();
    benchmark.kind = kind;
    benchmark.fill();
    float[] weights = benchmark.weights.clone();
    float[] moved = benchmark.dense();
    float[] rows = benchmark.rows();
    for (int i = 0; i < weights.length; i++) {
      assertThat(moved[i]).isNotEqualTo(weights[i]);
    }
    assertThat(rows[0]).isNotZero();
    assertThat(rows[rows.length - 1 - (rows.length / OptimizerBenchmark.ELEMENTS - 1) * 10]).isNotZero();
  }

  @ParameterizedTest
  @EnumSource(CodecBenchmark.Content.class)
  void a_push_is_cut_and_put_together(CodecBenchmark.Content content) throws Exception {
    CodecBenchmark benchmark = new CodecBenchmark();
    benchmark.content = content;
    benchmark.open();
    for (int i = 0; i < 3; i++) {
      assertThat(benchmark.encode().toCompletableFuture()).isCompleted();
      if (content == CodecBenchmark.Content.ROWS) {
        assertThat(benchmark.decode().sparse().get(0).values()).hasSize(CodecBenchmark.ROWS * CodecBenchmark.DIM);
      } else {
        assertThat(benchmark.decode().dense().size()).isEqualTo(CodecBenchmark.ELEMENTS);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = WireType.class, names = "INT64", mode = EnumSource.Mode.EXCLUDE)
  void elements_go_to_the_wire_and_come_back(WireType wire) {
    WireBenchmark benchmark = new WireBenchmark();
    benchmark.wire = wire;
    benchmark.fill();
    assertThat(benchmark.encode().position()).isEqualTo(WireBenchmark.ELEMENTS * wire.bytes());
    assertThat(benchmark.copy().size()).isEqualTo(WireBenchmark.ELEMENTS);
    ByteBuffer before = benchmark.encode().duplicate();
    byte[] rounded = new byte[before.flip().remaining()];
    before.get(rounded);
    benchmark.greatest();
    benchmark.complete();
    byte[] after = new byte[rounded.length];
    benchmark.encode().flip().get(after);
    assertThat(after).isEqualTo(rounded); // what came back is rounded already
    assertThat(benchmark.sum().size()).isEqualTo(WireBenchmark.ELEMENTS);
  }
}
