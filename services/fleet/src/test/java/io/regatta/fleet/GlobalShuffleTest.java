package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.core.progress.Progress;
import io.regatta.data.format.LibSvmFormat;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.InMemoryDataset;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Examples change places among the trainers of a job, and replicas of a trainer, over tensor streams. */
class GlobalShuffleTest {

  private static final int FILES = 6;
  private static final int LINES = 500;

  @TempDir
  Path dir;

  @Test
  void every_example_is_at_one_worker_in_an_order_of_the_seed() throws Exception {
    for (int file = 0, id = 1; file < FILES; file++) {
      StringBuilder text = new StringBuilder();
      for (int line = 0; line < LINES; line++, id++) {
        text.append("1 ").append(id).append(":1\n");
      }
      Files.writeString(dir.resolve("part-" + file), text);
    }
    Map<Integer, List<Long>> shuffled = run(5);
    assertThat(shuffled).hasSize(4).allSatisfy((worker, ids) -> assertThat(ids).hasSizeBetween(650, 850));
    assertThat(shuffled.values().stream().flatMap(List::stream).toList())
        .containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, FILES * LINES).boxed().toList());
    assertThat(run(5)).isEqualTo(shuffled);
  }

  private Map<Integer, List<Long>> run(long seed) {
    Map<Integer, List<Long>> ids = new ConcurrentHashMap<>();
    TrainingProgram program = worker -> {
      List<Path> mine = worker.shard(LongStream.range(0, FILES).mapToObj(i -> "part-" + i).toList()).stream()
          .map(dir::resolve).toList();
      try (InMemoryDataset dataset = InMemoryDataset.builder().setFilelist(mine).setFormat(new LibSvmFormat(1))
          .setBatchSize(100).build(); NDManager manager = NDManager.newBaseManager()) {
        dataset.loadIntoMemory();
        dataset.globalShuffle(worker.exampleExchange(), seed);
        List<Long> read = new ArrayList<>();
        for (Batch batch : dataset.getData(manager)) {
          try (batch) {
            LongStream.of(batch.getData().get(0).toLongArray()).forEach(read::add);
          }
        }
        ids.put(worker.shardIndex(), read);
      }
    };
    JobConfig job = JobConfig.of(new JsonObject().put("job", "shuffle").put("trainers", 2).put("threads", 2)
        .put("model_thread_idle_ms", 200));
    LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgram(program).withProgress(Progress.none()));
    return new TreeMap<>(ids);
  }
}
