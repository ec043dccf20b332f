package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.LeftoverThreads;
import io.regatta.trainer.Progress;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.save.SavedParameters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** LeNet without servers, over tensor streams between the trainers. */
class CollectiveTrainingTest {

  @TempDir
  Path dir;

  private List<RunResult> run(int trainers, String... keys) {
    List<String> all = new ArrayList<>(List.of("trainers=" + trainers, "batch_size=" + 32 / trainers, "max_steps=100",
        "epochs=20", "optimizer.learning_rate=0.01", "settings.train_images=320", "settings.test_images=40",
        "data.drop_last=true", "output=" + dir.resolve("model-" + trainers)));
    all.addAll(List.of(keys));
    return LocalCluster.run(LocalCluster.Options.of(Jobs.config("lenet", all.toArray(String[]::new))).withoutHazelcast()
        .withProgress(Progress.none()));
  }

  /** The same examples in every step, summed in another order. */
  @Test
  void one_two_and_four_trainers_with_the_same_global_batch_train_the_same() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    SavedParameters alone = null;
    for (int trainers : new int[] {1, 2, 4}) {
      List<RunResult> results = run(trainers);
      RunResult first = results.get(0);
      System.out.println(first);
      assertThat(results).hasSize(trainers).allMatch(r -> r.parametersHash().equals(first.parametersHash()));
      assertThat(first.mode()).isEqualTo("collective");
      assertThat(first.steps()).isEqualTo(100);
      assertThat(first.examples()).isEqualTo(3200);
      assertThat(first.accuracy()).as("0.1 untrained").isGreaterThan(0.9);
      assertThat(first.metrics().get("exchanges_per_step")).isEqualTo(1);
      SavedParameters saved = SavedParameters.read(dir.resolve("model-" + trainers));
      if (alone == null) {
        alone = saved;
      } else {
        assertThat(alone.distance(saved)).isLessThanOrEqualTo(1e-4);
      }
    }
    threads.assertNone();
  }

  @Test
  void a_run_goes_on_from_its_snapshot() {
    String snapshots = "snapshots.dir=" + dir.resolve("snapshots");
    String whole = run(2, "max_steps=14", "output=").get(0).parametersHash();
    run(2, "max_steps=7", "output=", snapshots, "snapshots.every_steps=7");
    RunResult resumed = run(2, "max_steps=14", "output=", snapshots, "resume=auto", "snapshots.every_steps=7").get(0);
    assertThat(resumed.parametersHash()).isEqualTo(whole);
  }
}
