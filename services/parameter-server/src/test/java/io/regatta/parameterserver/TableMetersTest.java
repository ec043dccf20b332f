package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.node.admin.SampleFamilies;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Metrics of tables, of two shards of one process, as a scrape reads them. */
class TableMetersTest {

  private static final TrainerId ME = new TrainerId(0, 1);

  private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final SampleFamilies families = new SampleFamilies();

  TableMetersTest() {
    registry.getPrometheusRegistry().register(families);
  }

  private static ParameterShard shard(int index, int tables) {
    ParameterShard shard = new ParameterShard(index, ShardLimits.defaults(), TestClock.at(1));
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 2, 64, new ModelSpec(1, List.of(), sgd,
        IntStream.range(0, tables).mapToObj(i -> new SparseTableSpec("t" + i, 1, InitializerSpec.zeros(), sgd)).toList())), ME, 0);
    return shard;
  }

  /** Returns the number of turns. */
  private static int look(ShardMetrics metrics, ParameterShard shard) {
    int turns = 1;
    for (ShardMetrics.Tick tick = metrics.tick(shard); tick.advance(); turns++) { }
    return turns;
  }

  private List<String> shown(String start) {
    return registry.scrape().lines().filter(line -> line.startsWith(start)).sorted().toList();
  }

  @Test
  void shardsOfOneProcessShowTheSameFamilies() {
    ParameterShard first = shard(0, 2);
    ParameterShard second = shard(1, 1);
    ShardMetrics ofFirst = new ShardMetrics(registry, families, 0);
    ShardMetrics ofSecond = new ShardMetrics(registry, families, 1);
    assertThat(shown("regatta_job_rows")).isEmpty();
    look(ofFirst, first);
    look(ofSecond, second);
    assertThat(shown("regatta_job_rows{")).containsExactly("regatta_job_rows{job=\"job\",shard=\"0\",table=\"t0\"} 0.0",
        "regatta_job_rows{job=\"job\",shard=\"0\",table=\"t1\"} 0.0", "regatta_job_rows{job=\"job\",shard=\"1\",table=\"t0\"} 0.0");
    assertThat(shown("# HELP regatta_job_rows ")).containsExactly("# HELP regatta_job_rows sparse rows");
    assertThat(shown("# TYPE regatta_job_rows_born_total")).containsExactly("# TYPE regatta_job_rows_born_total counter");
    assertThat(shown("regatta_job_rows_removed_total{job=\"job\",reason=\"ttl\"")).hasSize(3);
    ofSecond.close();
    assertThat(shown("regatta_job_rows{")).hasSize(2);
  }

  @Test
  void aLookFindsWhatHasChanged_andForgetsJobsThatHaveEnded() {
    ParameterShard shard = shard(0, 2);
    ShardMetrics metrics = new ShardMetrics(registry, families, 0);
    look(metrics, shard);
    long own = LongStream.range(0, 100).filter(id -> SparsePartition.shardOf(id,
        Sharding.common(2)) == 0).findFirst().orElseThrow();
    assertThat(shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds("t1", new long[] {own})), false)))
        .isCompleted();
    look(metrics, shard);
    assertThat(shown("regatta_job_rows_born_total{")).containsExactly(
        "regatta_job_rows_born_total{job=\"job\",shard=\"0\",table=\"t0\"} 0.0",
        "regatta_job_rows_born_total{job=\"job\",shard=\"0\",table=\"t1\"} 1.0");
    shard.leave("job", ME);
    look(metrics, shard);
    assertThat(shown("regatta_job_rows")).isEmpty();
  }

  /** It begins anew between two looks, and once in the middle of one. */
  @Test
  void when_a_job_has_been_freed_then_its_tables_are_not_shown_for_the_next_one_of_its_name() {
    ShardMetrics metrics = new ShardMetrics(registry, families, 0);
    ParameterShard before = shard(0, 3);
    look(metrics, before);
    assertThat(shown("regatta_job_rows{")).hasSize(3);
    metrics.forget("job");
    look(metrics, shard(0, 2));
    assertThat(shown("regatta_job_rows{")).hasSize(2);

    ParameterShard large = shard(0, 2000);
    ShardMetrics.Tick tick = metrics.tick(large);
    tick.advance();
    assertThat(tick.advance()).as("there are more tables").isTrue();
    metrics.forget("job");
    while (tick.advance()) { }
    look(metrics, shard(0, 2));
    assertThat(shown("regatta_job_rows{")).hasSize(2);
  }

  @Test
  void tablesAreLookedAtSomeInEachTurn() {
    ShardMetrics metrics = new ShardMetrics(registry, families, 0);
    ParameterShard shard = shard(0, 5000);
    assertThat(look(metrics, shard)).isBetween(5, 50);
    assertThat(shown("regatta_job_rows{")).hasSize(5000);
  }
}
