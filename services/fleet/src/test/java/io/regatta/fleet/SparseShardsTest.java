package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.model.Sharding;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.training.result.RunResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs whose servers keep some of their shards for sparse tables, with snapshots to others and back. */
@ExtendWith(BlockedLoopGuard.class)
class SparseShardsTest {

  /** Data are generated once. */
  @TempDir
  static Path dir;

  private static RunResult run(String output, String... keys) {
    List<String> all = new ArrayList<>(List.of("mode=sync", "optimizer.kind=adam", "optimizer.learning_rate=0.01",
        "sparse_optimizer.kind=adagrad", "sparse_optimizer.learning_rate=0.1", "min_block=16",
        "snapshots.every_steps=5", "output=" + dir.resolve(output)));
    all.addAll(List.of(keys));
    return LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, all.toArray(String[]::new)))
        .withoutHazelcast().withProgress(Progress.none())).get(0);
  }

  @Test
  void a_run_that_goes_to_common_shards_and_back_has_the_bits_of_one_that_has_no_others() throws IOException {
    RunResult common = run("common", "max_steps=15", "servers=2", "shards=1");

    run("apart", "max_steps=5", "servers=2", "shards=3", "sparse_shards=1");
    Path apart = dir.resolve("apart/step-000000005");
    assertThat(Manifest.read(apart).model().sharding()).isEqualTo(new Sharding(6, 3, 1));
    for (int shard = 0; shard < 6; shard++) {
      try (SafetensorsFile file = SafetensorsFile.open(apart.resolve(Manifest.read(apart).files().get(shard).file()))) {
        boolean dense = file.tensors().stream().anyMatch(t -> t.name().startsWith("dense/"));
        long rows = file.tensors().stream().filter(t -> t.dtype().equals(TensorInfo.I64))
            .mapToLong(TensorInfo::elements).sum();
        assertThat(dense).as("dense parts on shard %d", shard).isEqualTo(shard % 3 != 2);
        assertThat(rows > 0).as("rows on shard %d", shard).isEqualTo(shard % 3 == 2);
      }
    }
    assertThat(CommandLineRun.regatta("checkpoint", "inspect", apart.toString()).out())
        .contains("6, of every 3 the last 1 with sparse tables only");

    run("apart", "max_steps=10", "resume=auto", "servers=1", "shards=6");
    assertThat(Manifest.read(dir.resolve("apart/step-000000010")).model().sharding()).isEqualTo(Sharding.common(6));
    RunResult back = run("apart", "max_steps=15", "resume=auto", "servers=1", "shards=2", "sparse_shards=1",
        "aggregator=true");
    assertThat(back.steps()).isEqualTo(15);
    assertThat(back.parametersHash()).isEqualTo(common.parametersHash());
  }
}
