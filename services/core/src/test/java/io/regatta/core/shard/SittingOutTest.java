package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SittingOutTest {

  private static CompletableFuture<ParameterClient.Pushed> push(LocalJob job, int rank, long step) {
    LocalJob.Gradient g = LocalJob.gradient(3, rank, step);
    return job.clients.get(rank).push(step, g.weight(), null, g.dense(), g.sparse());
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

  @Test
  void whoSitsOutMayPullButNotPush() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 1, OptimizerSpec.sgd(0.1));
    job.clients.get(0).sitOut().join();
    assertThat(job.clients.get(0).pull(0, true, List.of(), false)).isCompleted();
    assertThatThrownBy(() -> push(job, 0, 0).join()).hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContaining("trainer 0 sits out; register again first");
  }
}
