package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.Momentum;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each setting that two trainers of a job can differ in, one at a time, by its name and with both values. */
class JobDifferenceTest {

  private static final OptimizerSpec SGD = OptimizerSpec.sgd(0.5);
  private static final DenseVariable W = new DenseVariable("w", List.of(2, 3));
  private static final SparseTableSpec T = table("t", 4, SGD);
  private static final ModelSpec MODEL = model(SGD, T);
  private static final JobSpec JOB = new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 16, MODEL);

  private static SparseTableSpec table(String name, int dim, OptimizerSpec optimizer) {
    return new SparseTableSpec(name, dim, InitializerSpec.zeros(), optimizer);
  }

  private static ModelSpec model(OptimizerSpec dense, SparseTableSpec... tables) {
    return new ModelSpec(1, List.of(W), dense, List.of(tables));
  }

  private static JobSpec job(ModelSpec model) {
    return new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 16, model);
  }

  private static JobSpec job(Sharding sharding) {
    return new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, sharding, 16, MODEL);
  }

  private static void assertDifference(JobSpec here, JobSpec there, String what, Object onShard, Object inTrainer) {
    assertThat(JobDifference.describe(here, there, 5))
        .isEqualTo(what + " is " + onShard + " on the shard and " + inTrainer + " in trainer 5");
  }

  private static void assertDifference(ModelSpec there, String what, Object onShard, Object inTrainer) {
    assertDifference(JOB, job(there), what, onShard, inTrainer);
  }

  private static void assertOptimizers(OptimizerSpec here, OptimizerSpec there, String key, Object onShard, Object inTrainer) {
    assertDifference(job(model(here, table("t", 4, here))), job(model(there, table("t", 4, there))), "optimizer." + key, onShard,
        inTrainer);
  }

  @Test
  void saysNothing_whenNothingDiffers() {
    assertThat(JobDifference.describe(JOB, job(model(SGD, table("t", 4, OptimizerSpec.sgd(0.5)))), 5)).isEmpty();
  }

  @Test
  void saysNothingOfTheSmallestBlock_whenTheOptimizerNeedsWholeTensors() {
    ModelSpec lamb = model(OptimizerSpec.of("lamb", 0.5), T);
    JobSpec here = new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 16, lamb);
    JobSpec there = new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 8, lamb);
    assertThat(here.isUsedAs(there)).isTrue();
    assertThat(here.used()).isEqualTo(there.used());
    assertThat(JobDifference.describe(here, there, 5)).isEmpty();
    assertThat(JOB.isUsedAs(new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 8, MODEL))).isFalse();
    assertThat(JobDifference.describe(JOB, job(lamb), 5)).contains("optimizer.kind").doesNotContain("min_block");
  }

  @Test
  void namesSettingsOfTheJob() {
    assertDifference(JOB, new JobSpec("job", Mode.SSP, 7, 3, NanPolicy.FAIL, 6, 16, MODEL), "trainers", 2, 7);
    assertDifference(JOB, new JobSpec("job", Mode.SSP, 2, 4, NanPolicy.FAIL, 6, 16, MODEL), "staleness_bound", 3, 4);
    assertDifference(JOB, new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.SKIP, 6, 16, MODEL), "nan_policy", "fail", "skip");
    assertDifference(JOB, new JobSpec("job", Mode.SSP, 2, 3, NanPolicy.FAIL, 6, 8, MODEL), "min_block", 16, 8);
    JobSpec async = new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 6, 16, MODEL);
    assertDifference(async, new JobSpec("job", Mode.GEO, 2, 0, NanPolicy.FAIL, 6, 16, MODEL), "mode", "async", "geo");
  }

  @Test
  void namesHowTheModelIsCut() {
    assertDifference(JOB, job(Sharding.common(4)), "number of shards", 6, 4);
    assertDifference(JOB, job(new Sharding(6, 3, 2)), "sparse_shards", 0, 2);
    assertDifference(job(new Sharding(6, 3, 2)), JOB, "sparse_shards", 2, 0);
    assertDifference(job(new Sharding(6, 3, 2)), job(new Sharding(6, 6, 2)), "number of shards of a server", 3, 6);
  }

  @Test
  void namesPartsOfTheModel() {
    assertDifference(new ModelSpec(2, List.of(W), SGD, List.of(T)), "seed", 1, 2);
    assertDifference(new ModelSpec(1, List.of(W, new DenseVariable("b", List.of(1))), SGD, List.of(T)),
        "number of dense variables", 1, 2);
    assertDifference(new ModelSpec(1, List.of(new DenseVariable("v", List.of(2, 3))), SGD, List.of(T)),
        "name of dense variable 0", "w", "v");
    assertDifference(new ModelSpec(1, List.of(new DenseVariable("w", List.of(3, 2))), SGD, List.of(T)),
        "shape of dense variable 'w'", "[2, 3]", "[3, 2]");
    assertDifference(model(SGD, T, table("u", 1, SGD)), "number of sparse tables", 1, 2);
    assertDifference(model(SGD, table("u", 4, SGD)), "name of sparse table 0", "t", "u");
    assertDifference(model(SGD, table("t", 8, SGD)), "row dimension of sparse table 't'", 4, 8);
    InitializerSpec normal = InitializerSpec.normal(0, 1);
    assertDifference(model(SGD, new SparseTableSpec("t", 4, normal, SGD)), "initializer of sparse table 't'",
        InitializerSpec.zeros(), normal);
    assertDifference(model(SGD, new SparseTableSpec("t", 4, InitializerSpec.zeros(), SGD, TableLife.NONE.withTtlSeconds(60))),
        "ttl_seconds of sparse table 't'", 0, 60);
  }

  @Test
  void namesSettingsOfOptimizersByTheirKeys() {
    assertOptimizers(SGD, OptimizerSpec.of("adam", 0.5), "kind", "sgd", "adam");
    assertOptimizers(OptimizerSpec.of(new Momentum(0.9f, false), 1), OptimizerSpec.of(new Momentum(0.5f, false), 1), "momentum", 0.9, 0.5);
    assertOptimizers(SGD, OptimizerSpec.sgd(0.25), "learning_rate", 0.5, 0.25);
    assertOptimizers(scheduled(LearningRate.step(1, 10, 0.5)), scheduled(LearningRate.step(1, 20, 0.5)), "schedule.decay_steps", 10,
        20);
    assertOptimizers(scheduled(LearningRate.step(1, 10, 0.5)), scheduled(LearningRate.exponential(1, 10, 0.5)), "schedule.kind",
        "step", "exponential");
  }

  private static OptimizerSpec scheduled(LearningRate rate) {
    return OptimizerSpec.of(new Sgd(), rate);
  }

  @Test
  void namesTheSectionOfTables_whenTheirOptimizerIsNotThatOfTheDenseParameters() {
    OptimizerSpec other = OptimizerSpec.sgd(2);
    ModelSpec alike = model(SGD, T);
    ModelSpec apart = model(SGD, table("t", 4, other));
    assertDifference(job(alike), job(apart), "sparse_optimizer.learning_rate", 0.5, 2.0);
    assertDifference(job(apart), job(alike), "sparse_optimizer.learning_rate", 2.0, 0.5);
  }

  @Test
  void countsDifferencesBehindTheThird() {
    JobSpec three = new JobSpec("job", Mode.SSP, 3, 4, NanPolicy.SKIP, 6, 16, MODEL);
    assertThat(JobDifference.describe(JOB, three, 5)).isEqualTo("trainers is 2 on the shard and 3 in trainer 5; "
        + "staleness_bound is 3 on the shard and 4 in trainer 5; nan_policy is fail on the shard and skip in trainer 5");
    JobSpec five = new JobSpec("job", Mode.SSP, 3, 4, NanPolicy.SKIP, 6, 8, new ModelSpec(9, List.of(W), SGD, List.of(T)));
    assertThat(JobDifference.describe(JOB, five, 5)).endsWith("skip in trainer 5; and 2 more").doesNotContain("seed");
  }
}
