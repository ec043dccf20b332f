package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.Mode;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.Faults;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.training.result.RunResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A small job on a whole cluster in one JVM, in every mode. */
@ExtendWith(BlockedLoopGuard.class)
class ModesTest {

  @TempDir
  static Path dir;

  private static List<RunResult> run(Faults faults, String... keys) {
    return LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, keys)).withoutHazelcast()
        .withProgress(Progress.none()).withFaults(faults));
  }

  @ParameterizedTest
  @EnumSource(value = Mode.class, mode = EnumSource.Mode.EXCLUDE, names = "COLLECTIVE")
  void trains_and_leaves_nothing_behind(Mode mode) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    List<RunResult> results = run(Faults.none(), "mode=" + mode.id(), "k_steps=2", "epochs=3",
        "optimizer.learning_rate=0.1");
    assertThat(results).hasSize(2);
    RunResult first = results.get(0);
    assertThat(first.servers()).isEqualTo(2);
    assertThat(first.shards()).isEqualTo(2);
    assertThat(first.examples()).isEqualTo(2 * first.steps() * 64);
    assertThat(first.auc()).isBetween(0.55, 0.77); // best possible: 0.763
    assertThat(first.parametersHash()).hasSize(16).isEqualTo(results.get(1).parametersHash());
    assertThat(Path.of(first.model())).isNotEmptyDirectory();
    threads.assertNone();
  }

  @Test
  void sync_does_not_depend_on_speed_shards_start_order_or_aggregator() {
    String hash = run(Faults.none(), "mode=sync").get(0).parametersHash();
    assertThat(run(Faults.slow(Map.of(0, 3L)), "mode=sync").get(0).parametersHash()).isEqualTo(hash);
    assertThat(run(Faults.none(), "mode=sync", "servers=1", "shards=5").get(0).parametersHash()).isEqualTo(hash);
    assertThat(run(Faults.none(), "mode=sync", "aggregator=true").get(0).parametersHash()).isEqualTo(hash);
  }

  @Test
  void async_trainers_are_stale_where_one_is_slow() {
    assertThat(run(Faults.slow(Map.of(1, 10L)), "mode=async", "epochs=3").get(0).stalenessMax()).isPositive();
  }

  @Test
  void replicas_of_a_trainer_train_side_by_side() {
    RunResult run = run(Faults.none(), "mode=half_async", "threads=2", "trainers=1").get(0);
    assertThat(run.threads()).isEqualTo(2);
    assertThat(run.examples()).isEqualTo(2 * run.steps() * 64);
  }
}
