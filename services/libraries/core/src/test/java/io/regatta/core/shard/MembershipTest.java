package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.RegisteredTrainer;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.core.testing.TestClock;
import java.util.List;
import org.junit.jupiter.api.Test;

class MembershipTest {

  private static final OptimizerSpec SGD = OptimizerSpec.sgd(1);
  private final JobSpec spec = LocalJob.spec(Mode.ASYNC, 2, 1, SGD, 0, NanPolicy.FAIL);
  private final ParameterShard shard = new ParameterShard(0, new ShardLimits(2, 4, 4, 1000), TestClock.at(5));

  @Test
  void anotherModelUnderTheSameNameIsAConflictThatSaysWhatDiffers() {
    shard.register(spec, new TrainerId(0, 1), 0);
    ModelSpec other = new ModelSpec(8,
        List.of(new DenseVariable("fc.weight", List.of(5, 4)), new DenseVariable("fc.bias", List.of(8))), SGD,
        List.of(new SparseTableSpec(LocalJob.WIDE, 1, InitializerSpec.zeros(), SGD),
            new SparseTableSpec(LocalJob.DEEP, 8, InitializerSpec.uniform(-1, 1), SGD)));
    JobSpec there = new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 1, 4, other);
    assertThatThrownBy(() -> shard.register(there, new TrainerId(1, 1), 0)).isInstanceOf(Conflict.class)
        .hasMessageContainingAll("job 'job'", "shard 0", "seed is 7 on the shard and 8 in trainer 1;",
            "shape of dense variable 'fc.weight' is [5, 3] on the shard and [5, 4] in trainer 1;", "; and 1 more;");
    assertThat(shard.status("job").trainers()).hasSize(1);
  }

  @Test
  void otherSettingsAreAConflictToo() {
    shard.register(spec, new TrainerId(0, 1), 0);
    JobSpec there = new JobSpec("job", Mode.SYNC, 3, 0, NanPolicy.FAIL, 1, 4, spec.model());
    assertThatThrownBy(() -> shard.register(there, new TrainerId(1, 1), 0)).isInstanceOf(Conflict.class)
        .hasMessageContaining("mode is async on the shard and sync in trainer 1; trainers is 2 on the shard");
  }

  @Test
  void anotherSettingOfTheOptimizerIsNamedByItsKeyAndOnce() {
    assertThat(refusal(withRates(0.5, 0.5), withRates(0.001, 0.001)))
        .contains(": optimizer.learning_rate is 0.5 on the shard and 0.001 in trainer 1; give")
        .hasSizeLessThan(250);
    assertThat(refusal(withRates(0.5, 0.5), withRates(0.5, 0.001)))
        .contains(": sparse_optimizer.learning_rate is 0.5 on the shard and 0.001 in trainer 1; give");
    assertThat(refusal(withRates(OptimizerSpec.of("adam", 0.5), OptimizerSpec.of("adam", 0.5)), withRates(0.1, 0.1)))
        .contains(": optimizer.kind is adam on the shard and sgd in trainer 1; give");
  }

  /** A client of another make leaves them out. */
  @Test
  void whatModeOptimizerAndTableDoNotUseMayDiffer() {
    LearningRate here = LearningRate.constant(0.5);
    LearningRate there = here.with(rate -> rate.decaySteps(7).decayRate(0).staircase(true).boundaries(List.of(3L))
        .modelDim(5).minimum(1).warmupStart(2));
    OptimizerSpec full = OptimizerSpec.of(new Sgd(), here);
    OptimizerSpec bare = OptimizerSpec.of(new Sgd(), there);
    TableLife life = TableLife.NONE.with(its -> its.decay(0.5f).nonclickCoefficient(2).clickCoefficient(3).admitCount(1));
    JobSpec given = job(3, full, new SparseTableSpec("t", 2, new InitializerSpec(InitializerSpec.Kind.CONSTANT, 0, 7), full, life));
    JobSpec less = job(0, bare, new SparseTableSpec("t", 2, InitializerSpec.zeros(), bare));
    shard.register(given, new TrainerId(0, 1), 0);
    assertThat(shard.register(less, new TrainerId(1, 1), 0)).isZero();
    assertThat(shard.status("job").trainers()).hasSize(2);
    assertThat(refusal(given, job(0, OptimizerSpec.sgd(0.25), new SparseTableSpec("t", 2, InitializerSpec.zeros(), bare))))
        .contains(": optimizer.learning_rate is 0.5 on the shard and 0.25 in trainer 1; give");
  }

  private static JobSpec job(int stalenessBound, OptimizerSpec optimizer, SparseTableSpec table) {
    return new JobSpec("job", Mode.ASYNC, 2, stalenessBound, NanPolicy.FAIL, 1, 4,
        new ModelSpec(1, List.of(new DenseVariable("w", List.of(3))), optimizer, List.of(table)));
  }

  private String refusal(JobSpec here, JobSpec there) {
    ParameterShard fresh = new ParameterShard(0, new ShardLimits(2, 4, 4, 1000), TestClock.at(5));
    fresh.register(here, new TrainerId(0, 1), 0);
    return catchThrowable(() -> fresh.register(there, new TrainerId(1, 1), 0)).getMessage();
  }

  private JobSpec withRates(double dense, double sparse) {
    return withRates(OptimizerSpec.sgd(dense), OptimizerSpec.sgd(sparse));
  }

  private JobSpec withRates(OptimizerSpec dense, OptimizerSpec sparse) {
    ModelSpec m = spec.model();
    return new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 1, 4, new ModelSpec(m.seed(), m.dense(), dense,
        m.sparse().stream().map(t -> new SparseTableSpec(t.name(), t.dim(), t.initializer(), sparse)).toList()));
  }

  @Test
  void aTrainerRegistersAtAnyStepThatIsFarFromAnOverflow() {
    long highest = 1L << 62;
    JobSpec rounds = LocalJob.spec(Mode.SYNC, 2, 1, SGD, 0, NanPolicy.FAIL);
    assertThatThrownBy(() -> shard.register(rounds, new TrainerId(0, 1), highest + 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("step " + (highest + 1)).hasMessageContaining("steps count from 0");
    assertThat(shard.register(rounds, new TrainerId(0, 1), highest)).isEqualTo(highest);
  }

  @Test
  void aRankHasOneLifeAtATime() {
    shard.register(spec, new TrainerId(0, 5), 0);
    shard.register(spec, new TrainerId(1, 1), 0);
    assertThatCode(() -> shard.register(spec, new TrainerId(0, 5), 0)).as("a new stream").doesNotThrowAnyException();
    assertThatThrownBy(() -> shard.register(spec, new TrainerId(0, 6), 0)).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 0 is held by incarnation 5");
    shard.lost("job", new TrainerId(0, 4));
    assertThat(shard.status("job").trainers().get(0).state()).isEqualTo("active");
    shard.lost("job", new TrainerId(0, 5));
    assertThat(shard.status("job").trainers().get(0).state()).isEqualTo("lost");
    assertThatThrownBy(() -> shard.register(spec, new TrainerId(0, 5), 0)).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("was declared lost at shard 0 of job job");
    shard.register(spec, new TrainerId(0, 6), 0);
    assertThat(shard.status("job").trainers()).extracting(RegisteredTrainer::state)
        .containsExactly("active", "active");
  }

  @Test
  void aRankOutsideTheWorldAndAJobThatMakesNoSenseAreRefused() {
    assertThatThrownBy(() -> shard.register(spec, new TrainerId(2, 1), 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("rank 2 is outside job 'job'").hasMessageContaining("ranks 0 to 1");
    assertThatThrownBy(() -> shard.register(spec, new TrainerId(-1, 1), 0)).isInstanceOf(InvalidInput.class);
    JobSpec noTrainers = new JobSpec("job", Mode.SYNC, 0, 0, NanPolicy.FAIL, 1, 4, spec.model());
    assertThatThrownBy(() -> shard.register(noTrainers, new TrainerId(0, 1), 0)).isInstanceOf(InvalidInput.class);
    ParameterShard third = new ParameterShard(2, ShardLimits.defaults(), TestClock.at(0));
    assertThatThrownBy(() -> third.register(spec, new TrainerId(0, 1), 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("this is shard 2").hasMessageContaining("shard map");
    assertThat(shard.jobs()).isEmpty();
  }

  @Test
  void theLastLeaveFreesTheJobAndANewOneMayUseItsName() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, SGD);
    ParameterShard shard = job.shards.get(0);
    job.clients.get(0).push(0, 1, null, null, List.of());
    var waiting = job.clients.get(0).pull(9, true, List.of(), false);
    job.clients.get(1).leave(true).join();
    assertThat(shard.status("job").trainers()).extracting(RegisteredTrainer::state)
        .containsExactly("active", "left");
    assertThat(waiting).isNotDone();
    job.clients.get(0).leave(true).join();
    assertThat(catchThrowable(waiting::join)).hasCauseInstanceOf(Cancelled.class);
    assertThat(shard.jobs()).isEmpty();
    assertThat(shard.waits()).isEmpty();
    assertThatCode(() -> shard.leave("job", new TrainerId(0, 1))).as("repeated").doesNotThrowAnyException();
    shard.lost("job", new TrainerId(0, 1));
    shard.register(LocalJob.spec(Mode.GEO, 7, 1, SGD, 0, NanPolicy.FAIL), new TrainerId(6, 1), 0);
    assertThat(shard.status("job").version()).isZero();
  }

  @Test
  void aTrainerThatHasLeftIsTooLate() {
    LocalJob job = new LocalJob(Mode.ASYNC, 2, 1, SGD);
    job.clients.get(1).leave(true).join();
    assertThat(catchThrowable(() -> job.clients.get(1).push(0, 1, null, null, List.of()).join()))
        .hasCauseInstanceOf(StaleGeneration.class).hasMessageContaining("has left shard 0 of job job");
    assertThat(catchThrowable(() -> job.clients.get(1).pull(0, true, List.of(), false).join()))
        .hasCauseInstanceOf(StaleGeneration.class);
  }

  @Test
  void jobsAreLimited() {
    shard.register(spec, new TrainerId(0, 1), 0);
    shard.register(named("b"), new TrainerId(0, 1), 0);
    assertThatThrownBy(() -> shard.register(named("c"), new TrainerId(0, 1), 0)).isInstanceOf(Overloaded.class)
        .hasMessageContaining("holds 2 jobs, its limit").hasMessageContaining("[job, b]");
    shard.leave("b", new TrainerId(0, 1));
    shard.register(named("c"), new TrainerId(0, 1), 0);
    assertThat(shard.jobs()).containsExactly("job", "c");
  }

  @Test
  void twoJobsDoNotTouchEachOther() {
    shard.register(spec, new TrainerId(0, 1), 0);
    shard.register(named("b"), new TrainerId(0, 1), 0);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(LocalJob.initial()));
    shard.initialize("b", new TrainerId(0, 1), DenseMemory.of(LocalJob.initial()));
    long untouched = shard.digest("b");
    assertThat(shard.push("job",
        new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0, DenseMemory.of(new float[24]), List.of(
        new SparseRows(LocalJob.WIDE, new long[] {1}, new float[] {1}))))).isCompleted();
    assertThat(shard.digest("b")).isEqualTo(untouched).isNotEqualTo(shard.digest("job"));
  }

  private JobSpec named(String name) {
    return new JobSpec(name, spec.mode(), spec.trainers(), 0, spec.nanPolicy(), 1, 4, spec.model());
  }

  /** A view names all that have ever gone; only what is new in it may cost anything. */
  @Test
  void whatIsKnownToHaveGoneIsNotLookedAtAgain() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    shard.register(LocalJob.spec(Mode.ASYNC, 3, 1, SGD, 0, NanPolicy.FAIL), new TrainerId(0, 4), 0);
    shard.register(LocalJob.spec(Mode.ASYNC, 3, 1, SGD, 0, NanPolicy.FAIL), new TrainerId(1, 2), 0);
    assertThat(shard.activeIncarnation("job", 0)).isEqualTo(4);
    assertThat(shard.activeIncarnation("job", 2)).isEqualTo(-1);
    assertThat(shard.activeIncarnation("other", 0)).isEqualTo(-1);
    assertThat(shard.active("job")).containsExactly(new TrainerId(0, 4), new TrainerId(1, 2));
    assertThat(shard.active("other")).isEmpty();
    shard.lost("job", new TrainerId(0, 3));
    shard.leave("job", new TrainerId(0, 3));
    shard.leave("job", new TrainerId(2, 9));
    shard.lost("job", new TrainerId(3, 1));
    assertThat(shard.active("job")).hasSize(2);
    shard.lost("job", new TrainerId(0, 4));
    shard.leave("job", new TrainerId(0, 4));
    assertThat(shard.status("job").trainers().get(0).state()).isEqualTo("lost");
    assertThat(shard.activeIncarnation("job", 0)).isEqualTo(-1);
    shard.leave("job", new TrainerId(1, 2));
    assertThat(shard.jobs()).isEmpty();
  }
}
