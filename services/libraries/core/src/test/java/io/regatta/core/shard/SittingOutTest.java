package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class SittingOutTest {

  private static CompletableFuture<ParameterClient.Pushed> push(LocalJob job, int rank, long step) {
    LocalJob.Gradient g = LocalJob.gradient(3, rank, step);
    return job.clients.get(rank).push(step, g.weight(), null, DenseMemory.of(g.dense()), g.sparse());
  }

  @Test
  void theOthersRoundsGoOnAndAllComeBackAtTheHighestStep() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 2, OptimizerSpec.sgd(0.1));
    var first = push(job, 0, 0);
    push(job, 1, 0).join();
    first.join();
    job.clients.get(0).sitOut().join();
    push(job, 1, 1).join();
    push(job, 1, 2).join();
    job.clients.get(1).sitOut().join();
    job.clients.get(0).register().join();
    job.clients.get(1).register().join();
    var third = push(job, 0, 3);
    assertThat(third).isNotDone();
    push(job, 1, 3).join();
    assertThat(third).isCompleted();
    assertThat(job.clients.get(0).pull(4, true, List.of(), false).join().versions()).containsOnly(4);
  }

  @Test
  void anOpenRoundThatWaitsOnlyForItCloses() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(0.1));
    var waiting = push(job, 1, 0);
    assertThat(waiting).isNotDone();
    job.clients.get(0).sitOut().join();
    assertThat(waiting).isCompleted();
  }

  @Test
  void whoComesBackIsWaitedForEvenBeforeItsNextPush() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(0.1));
    job.clients.get(0).sitOut().join();
    job.clients.get(1).sitOut().join();
    job.clients.get(1).register().join();
    job.clients.get(0).register().join();
    assertThat(push(job, 1, 0)).isNotDone();
  }

  @Test
  void theStalenessBoundDoesNotCountIt() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SSP, 2, 1, OptimizerSpec.sgd(0.1), 1, NanPolicy.FAIL));
    job.start();
    push(job, 1, 0).join();
    push(job, 1, 1).join();
    var pull = job.clients.get(1).pull(2, true, List.of(), false);
    assertThat(pull).isNotDone();
    job.clients.get(0).sitOut().join();
    assertThat(pull).isCompleted();
    job.clients.get(1).sitOut().join();
    job.clients.get(0).register().join();
    job.clients.get(1).register().join();
    assertThat(job.clients.get(1).pull(3, true, List.of(), false)).isCompleted();
    assertThat(job.clients.get(1).pull(4, true, List.of(), false)).isNotDone();
  }

  /** Trainer 2 makes steps alone while the others stand in a barrier, and dies with its last one on the way. */
  private static LocalJob lostAhead(JobSpec spec) {
    LocalJob job = new LocalJob(spec);
    job.start();
    for (int rank = 0; rank < 3; rank++) {
      push(job, rank, 0);
    }
    job.clients.get(0).sitOut().join();
    job.clients.get(1).sitOut().join();
    push(job, 2, 1).join();
    push(job, 2, 2).join();
    Push onItsWay = new Push(List.of(new Contributor(2, 1, 4, 1)), 3, 0, null, List.of());
    CompletionStage<PushAck> ack = job.shards.get(0).push("job", onItsWay);
    job.shards.get(0).lost("job", new TrainerId(2, 1));
    assertThat(ack).isCompleted();
    return job;
  }

  @Test
  void theSurvivorsOfALostRankThatWasAheadGoOnFromTheSameStepAtAllShards() {
    LocalJob job = lostAhead(LocalJob.spec(Mode.SYNC, 3, 2, OptimizerSpec.sgd(0.1), 0, NanPolicy.FAIL));
    assertThat(job.clients.get(0).register().join()).as("shard 0 has closed round 3, shard 1 has not").isEqualTo(4);
    assertThat(job.clients.get(1).register().join()).isEqualTo(4);
    job.clients.get(0).takePartFrom(4).join();
    var values = job.clients.get(0).pull(4, true, List.of(), false);
    var fourth = push(job, 0, 4);
    job.shards.get(1).lost("job", new TrainerId(2, 1)); // hears of it late
    assertThat(values).as("shard 1 still waits for trainer 1's round 3").isNotDone();
    job.clients.get(1).takePartFrom(4).join();
    assertThat(values.join().versions()).containsExactly(4, 4);
    assertThat(fourth).isNotDone();
    push(job, 1, 4).join();
    assertThat(fourth).isCompleted();
    assertThat(job.clients.get(1).pull(5, true, List.of(), false).join().versions()).containsExactly(5, 5);
  }

  @Test
  void theStalenessBoundHoldsAtAllShardsWhenARankThatWasAheadIsLost() {
    LocalJob job = lostAhead(LocalJob.spec(Mode.SSP, 3, 2, OptimizerSpec.sgd(0.1), 1, NanPolicy.FAIL));
    job.shards.get(1).lost("job", new TrainerId(2, 1));
    for (int rank = 0; rank < 2; rank++) {
      job.clients.get(rank).register().join();
      job.clients.get(rank).takePartFrom(3).join();
    }
    push(job, 0, 3).join();
    assertThat(job.clients.get(0).pull(4, true, List.of(), false)).isCompleted();
    push(job, 0, 4).join();
    assertThat(job.clients.get(0).pull(5, true, List.of(), false)).isNotDone();
  }

  @Test
  void aRegistrationForAStepThatThereIsNotIsRefused() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(0.1));
    for (long step : new long[] {-1, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> job.shards.get(0).register(job.spec, new TrainerId(0, 1), step))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("with step " + step);
    }
  }

  @Test
  void whoSitsOutMayPullButNotPush() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(0.1));
    job.clients.get(0).sitOut().join();
    assertThat(job.clients.get(0).pull(0, true, List.of(), false)).isCompleted();
    assertThatThrownBy(() -> push(job, 0, 0).join()).hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContaining("trainer 0 sits out; register again first");
  }
}
