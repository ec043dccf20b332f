package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.core.shard.LocalJob;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Local SGD and exchanges against closed forms; all numbers are dyadic, so that they come out exactly. */
class GeoStateTest {

  private static final long ID = -77;

  /** A rank's copy with the servers' dense values and the row of {@link #ID}. */
  private static GeoState started(LocalJob job, int rank, int kSteps) {
    GeoState state = new GeoState(job.spec, rank, kSteps);
    assertThat(state.started()).isFalse();
    state.renew(job.clients.get(rank).pull(0, true, List.of(), false).join());
    assertThat(state.copy("emb", new long[] {ID}, new float[2])).containsExactly(ID);
    state.admit(job.clients.get(rank).pull(0, false, List.of(new SparseIds("emb", new long[] {ID})), false).join()
        .sparse().get(0));
    return state;
  }

  private static LocalJob job(int trainers, NanPolicy nan) {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("a", List.of(1)), new DenseVariable("w", List.of(2))),
        OptimizerSpec.sgd(0.5), List.of(new SparseTableSpec("emb", 2, InitializerSpec.zeros(), OptimizerSpec.sgd(0.25))));
    LocalJob job = new LocalJob(new JobSpec("job", Mode.GEO, trainers, 0, nan, 2, 1, model));
    job.clients.forEach(c -> c.register().join());
    job.clients.get(0).initialize(new float[] {1, 2, 3}).join();
    return job;
  }

  private static List<SparseRows> row(float x, float y) {
    return List.of(new SparseRows("emb", new long[] {ID}, new float[] {x, y}));
  }

  private static void exchange(LocalJob job, int rank, GeoState state) {
    GeoState.Delta d = state.takeDelta();
    ParameterClient client = job.clients.get(rank);
    client.push(d.step(), 1, d.versions(), DenseMemory.of(d.dense()), d.sparse()).join();
    state.merge(client.pull(d.step() + 1, true, List.of(), true).join());
  }

  @Test
  void theServersHoldTheMeanOfWhatTrainersHaveMoved() {
    LocalJob job = job(2, NanPolicy.FAIL);
    GeoState[] states = {started(job, 0, 2), started(job, 1, 2)};
    for (int step = 0; step < 2; step++) {
      for (int rank = 0; rank < 2; rank++) {
        assertThat(states[rank].exchangeDue()).isFalse();
        assertThat(states[rank].step(new float[] {1 + rank, 0, 4 * rank}, row(8, -8 * rank))).isTrue();
      }
    }
    assertThat(states[0].dense()).containsExactly(1 - 2 * 0.5f, 2, 3);
    assertThat(states[0].exchangeDue()).isTrue();
    exchange(job, 0, states[0]);
    assertThat(states[0].exchangeDue()).isFalse();
    assertThat(states[0].dense()).as("alone, an exchange keeps the local values").containsExactly(0, 2, 3);
    exchange(job, 1, states[1]);
    assertThat(states[1].dense()).as("own steps, and half of the other's").containsExactly(1 - 2 - 0.5f, 2, 3 - 4);
    float[] row = new float[2];
    assertThat(states[1].copy("emb", new long[] {ID}, row)).isEmpty();
    assertThat(row).containsExactly(-0.25f * (16 + 8), 0.25f * 16);

    float[] mean = {1 - 0.5f * (2 + 4) / 2, 2, 3 - 0.5f * 8 / 2};
    var served = job.clients.get(0).read(true, List.of(new SparseIds("emb", new long[] {ID}))).join();
    assertThat(served.dense()).containsExactly(mean);
    assertThat(served.sparse().get(0).values()).containsExactly(-0.25f * 16, 0.25f * 8);
    states[0].renew(served);
    assertThat(states[0].dense()).containsExactly(mean);
    assertThat(states[0].copy("emb", new long[] {ID}, row)).as("rows are pulled again").containsExactly(ID);
  }

  @Test
  void aBrokenGradientIsNamedByVariableOrIdAndNeverReachesTheLocalCopy() {
    GeoState failing = started(job(1, NanPolicy.FAIL), 0, 1);
    assertThatThrownBy(() -> failing.step(new float[] {0, 0, Float.NaN}, List.of())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("step 0 of trainer 0 of job job", "'w' is NaN at element 1");
    assertThatThrownBy(() -> failing.step(null, row(0, Float.NEGATIVE_INFINITY))).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("table 'emb' is -Infinity", "id -77");
    GeoState skipping = started(job(1, NanPolicy.SKIP), 0, 1);
    assertThat(skipping.step(new float[] {1, 1, 1}, row(0, Float.NaN))).isFalse();
    assertThat(skipping.dense()).containsExactly(1, 2, 3);
    assertThat(skipping.steps()).isEqualTo(1);
    assertThat(skipping.exchangeDue()).isTrue();
  }

  @Test
  void otherOptimizersAreRefused() {
    assertThatThrownBy(() -> new GeoState(LocalJob.spec(Mode.GEO, 1, 1, OptimizerSpec.of("adam", 0.1), 0, NanPolicy.FAIL), 0, 1))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("SGD only").hasMessageContaining("adam");
  }

  @Test
  void refusesTheOptimizerOfOnePart_byName() {
    OptimizerSpec adam = OptimizerSpec.of("adam", 0.1);
    List<DenseVariable> dense = List.of(new DenseVariable("w", List.of(2)));
    assertThatThrownBy(() -> state(new ModelSpec(1, dense, adam, List.of()))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the dense parameters is adam");
    SparseTableSpec table = new SparseTableSpec("emb", 2, InitializerSpec.zeros(), adam);
    assertThatThrownBy(() -> state(new ModelSpec(1, dense, OptimizerSpec.sgd(1), List.of(table)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("table emb is adam");
  }

  private static GeoState state(ModelSpec model) {
    return new GeoState(new JobSpec("job", Mode.GEO, 1, 0, NanPolicy.FAIL, 1, 1, model), 0, 1);
  }

  @Test
  void refusesAGradientOfAnotherShape_andDoesNotCountIt() {
    GeoState state = started(job(1, NanPolicy.FAIL), 0, 1);
    assertThatThrownBy(() -> state.step(new float[4], List.of())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("step 0 of trainer 0", "4");
    assertThat(state.steps()).isZero();
  }

  @Test
  void owesAnExchange_fromTheFirstStepOn() {
    GeoState state = started(job(1, NanPolicy.FAIL), 0, 5);
    assertThat(state.pending()).isFalse();
    assertThat(state.takeDelta().step()).as("before the first step").isZero();
    state.step(new float[] {2, 0, 0}, List.of());
    assertThat(state.pending()).isTrue();
    state.step(null, List.of());
    GeoState.Delta delta = state.takeDelta();
    assertThat(state.pending()).isFalse();
    assertThat(delta.step()).as("the last step inside").isEqualTo(1);
    assertThat(delta.dense()).containsExactly(-1, 0, 0);
    assertThat(delta.sparse()).as("tables of which nothing has changed").isEmpty();
  }

  @Test
  void continuesItsSchedule_whenTheRunIsResumed() {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(1))),
        OptimizerSpec.of(new Sgd(), LearningRate.piecewise(List.of(6L), List.of(1.0, 0.25))), List.of());
    LocalJob job = new LocalJob(new JobSpec("job", Mode.GEO, 1, 0, NanPolicy.FAIL, 1, 1, model));
    job.clients.get(0).register().join();
    job.clients.get(0).initialize(new float[] {0}).join();
    GeoState resumed = new GeoState(job.spec, 0, 3, 6);
    resumed.renew(job.clients.get(0).pull(0, true, List.of(), false).join());
    resumed.step(new float[] {1}, List.of());
    assertThat(resumed.dense()).as("the rate of step 6 on").containsExactly(-0.25f);
    assertThat(resumed.steps()).isEqualTo(7);
    assertThat(resumed.exchangeDue()).as("one local step since the resumption").isFalse();
  }
}
