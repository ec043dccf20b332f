package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class LostShardTest {

  private static final LostShard ROWS = new LostShard(1, 4, "10.0.0.7:36001", List.of("wide", "deep"), -1);
  private static final LostShard BOTH = new LostShard(2, 4, "10.0.0.8:36002", List.of("deep"), 62);
  private static final LostShard DENSE = new LostShard(3, 4, "10.0.0.9:36003", List.of(), 62);

  @Test
  void is_read_as_it_was_written() {
    JsonObject manifest = new JsonObject();
    LostShard.put(manifest, List.of(ROWS, BOTH, DENSE));
    assertThat(LostShard.in(new JsonObject(manifest.encode()))).containsExactly(ROWS, BOTH, DENSE);
  }

  @Test
  void is_in_no_manifest_of_a_model_saved_from_all_shards() {
    JsonObject manifest = new JsonObject().put("kind", "model");
    LostShard.put(manifest, List.of());
    assertThat(manifest).isEqualTo(new JsonObject().put("kind", "model"));
    assertThat(LostShard.in(manifest)).isEmpty();
  }

  @Test
  void names_the_missing_rows_and_the_dense_parameters_of_a_trainer_each_by_its_shards() {
    assertThat(LostShard.missingRows(List.of(ROWS, BOTH, DENSE)))
        .isEqualTo("the rows of tables deep, wide on lost shards 1 (10.0.0.7:36001), 2 (10.0.0.8:36002) of 4");
    assertThat(LostShard.missingRows(List.of(BOTH)))
        .isEqualTo("the rows of table deep on lost shard 2 (10.0.0.8:36002) of 4");
    assertThat(LostShard.missingRows(List.of(DENSE))).isEmpty();
    assertThat(LostShard.olderDense(List.of(ROWS, BOTH, DENSE)))
        .isEqualTo("the dense parameters on lost shards 2 (10.0.0.8:36002), 3 (10.0.0.9:36003) of 4");
    assertThat(LostShard.olderDense(List.of(ROWS))).isEmpty();
  }
}
