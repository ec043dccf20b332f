package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.ManifestFile;
import io.regatta.training.config.JobConfig;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trainer whose link to one of two shards breaks in mid-run. */
class ModelSalvageTest {

  @TempDir
  Path dir;

  private Throwable failure(boolean shardServes) {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "fit-a-line").put("mode", "sync").put("servers", 2)
        .put("trainers", 1).put("min_block", 1).put("batch_size", 8).put("output", dir.resolve("output").toString())
        .put("data", new JsonObject().put("dir", dir.resolve("data").toString())));
    try (SharedShards shards = new SharedShards(job)) {
      shards.cutLast(20, shardServes);
      return catchThrowable(() -> shards.run(new FitALine())).getCause();
    }
  }

  /** The others train on with it, and save the model at their end. */
  @Test
  void when_the_shard_serves_others_then_nothing_is_saved_and_the_failure_is_the_loss_of_the_link() {
    assertThat(failure(true)).isInstanceOf(PeerLost.class).hasMessage("the last shard is lost");
    assertThat(dir.resolve("output.unfinished")).doesNotExist();
  }

  @Test
  void when_the_shard_serves_nobody_then_what_is_left_is_saved() {
    assertThat(failure(false)).isInstanceOf(PeerLost.class)
        .hasMessageContaining("has saved the model, not yet trained to its end (20 steps), in ");
    assertThat(LostShard.in(ManifestFile.read(dir.resolve("output.unfinished")))).extracting(LostShard::shard)
        .containsExactly(1);
  }
}
