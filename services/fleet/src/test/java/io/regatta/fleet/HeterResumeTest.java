package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.save.SavedParameters;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Jobs with heter workers that are cut within a pass, while batches are under way, and resumed from their last
 * snapshot. The parameters count the examples ({@link ExampleTally}): each pass has each of them once. The values are
 * those of a run that was not broken and has no heter workers.
 */
@ExtendWith(BlockedLoopGuard.class)
class HeterResumeTest {

  private static final int PASSES = 3;
  private static final long CUT = 5;
  private static final long SNAPSHOT = 4;

  @TempDir
  static Path dir;
  private static final Map<String, SavedParameters> UNBROKEN = new HashMap<>();

  private static JobConfig job(String mode, int trainers, int inFlight, String name, JsonObject other) {
    return JobConfig.of(new JsonObject().put("job", "tally").put("mode", mode).put("servers", 2).put("trainers",
        trainers)
        .put("batch_size", ExampleTally.BATCH).put("epochs", PASSES).put("compute_threads", 1).put("min_block", 4)
        .put("model_thread_idle_ms", 200).put("threads", inFlight).put("k_steps", 2).put("staleness_bound", 4)
        .put("overlap", false)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1))
        .put("snapshots", new JsonObject().put("dir", dir.resolve("snapshots-" + name).toString()).put("every_steps",
            2))
        .put("output", dir.resolve("model-" + name).toString()).mergeIn(other, true));
  }

  private static RunResult run(JobConfig job, ExampleTally program) {
    return LocalCluster.run(LocalCluster.Options.of(job).withProgram(program.marked()).withoutHazelcast()
        .withProgress(Progress.none())).get(0);
  }

  private static ExampleTally whole() {
    return new ExampleTally(new ExampleTally.Life(List.of(), Path.of(""), 0, Map.of()));
  }

  private static SavedParameters unbroken(String mode, int trainers, int inFlight) {
    return UNBROKEN.computeIfAbsent(mode + trainers + inFlight, key -> {
      JobConfig job = job(mode, trainers, inFlight, "unbroken-" + key, new JsonObject());
      run(job, whole());
      return SavedParameters.read(Path.of(job.output()));
    });
  }

  /** Examples that a life has trained, by pass. */
  private static Map<Integer, List<Long>> examples(ExampleTally life) {
    Map<Integer, List<Long>> passes = new TreeMap<>();
    life.trained().forEach(batch -> passes.computeIfAbsent(batch.pass(), pass -> new ArrayList<>())
        .addAll(batch.examples()));
    return passes;
  }

  @ParameterizedTest(name = "{0}, heter.dense: {1}, {2} trainers with {3} batches under way")
  @CsvSource({"sync, trainers, 2, 1", "sync, servers, 2, 1", "sync, servers, 2, 2", "sync, collective, 2, 1",
      "sync, collective, 1, 2",
      "half_async, servers, 2, 1", "async, trainers, 2, 1", "async, servers, 2, 1", "ssp, servers, 2, 1",
          "geo, servers, 1, 1"})
  void when_a_run_is_resumed_then_each_example_counts_once(String mode, String dense, int trainers, int inFlight) {
    JsonObject heter = new JsonObject().put("heter", new JsonObject().put("workers", 2).put("dense", dense)
        .put("in_flight", inFlight));
    String name = String.join("-", mode, dense, String.valueOf(trainers), String.valueOf(inFlight));
    JobConfig first = job(mode, trainers, inFlight, name, heter);
    List<Long> ends = LongStream.range(0, trainers).map(rank -> CUT).boxed().toList();
    ExampleTally broken = new ExampleTally(new ExampleTally.Life(ends, Path.of(first.snapshots().dir()), SNAPSHOT,
        Map.of()), inFlight);
    assertThatThrownBy(() -> run(first, broken)).hasStackTraceContaining(ExampleTally.CUT);

    ExampleTally resumed = whole();
    RunResult result = run(job(mode, trainers, inFlight, name, heter.copy().put("resume", "auto")), resumed);

    List<Long> all = LongStream.range(0, ExampleTally.EXAMPLES).boxed().toList();
    assertThat(result.examples()).as("examples of both lives").isEqualTo((long) PASSES * all.size());
    assertThat(result.examplesRepeated()).isZero();
    examples(resumed).forEach((pass, examples) -> assertThat(examples).as("pass %d of the second life", pass)
        .doesNotHaveDuplicates());
    assertThat(examples(resumed).get(PASSES - 1)).containsExactlyInAnyOrderElementsOf(all);
    SavedParameters values = SavedParameters.read(dir.resolve("model-" + name));
    SavedParameters expected = unbroken(mode, trainers, inFlight);
    assertThat(values.sameRows(expected)).isTrue();
    assertThat(values.distance(expected)).as("largest difference of a value").isZero();
  }
}
