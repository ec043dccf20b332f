package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.session.LocalSession;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A rank of two replicas, of which the second one loses a peer. */
class RankRunTest {

  /** Limit for tests that hang; it measures nothing. */
  private static final int SECONDS = 60;

  @TempDir
  Path dir;

  private void run(TrainingProgram program) throws Exception {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "pair").put("threads", 2));
    try (LocalSession session = new LocalSession(job)) {
      RankRun run = new RankRun(session, program, Progress.none(), ResultFile.at(dir.resolve("result.json")),
          GpuAssignment.NONE);
      try {
        assertThatThrownBy(() -> run.start().get(SECONDS, TimeUnit.SECONDS)).hasCauseInstanceOf(PeerLost.class)
            .hasMessageContaining("shard 1 is lost");
        run.ended().get(SECONDS, TimeUnit.SECONDS);
      } finally {
        run.interrupt();
      }
    }
    assertThat(dir.resolve("result.json")).doesNotExist();
  }

  /** Replica 0 would train for hours, and has no call to the lost peer to make. */
  @Test
  void when_another_replica_loses_a_peer_then_replica_0_is_stopped() throws Exception {
    CountDownLatch trains = new CountDownLatch(1);
    run(worker -> {
      if (worker.replica() == 0) {
        trains.countDown();
        new CountDownLatch(1).await();
      }
      trains.await();
      throw new PeerLost("shard 1 is lost");
    });
  }

  @Test
  void when_another_replica_loses_a_peer_then_replica_0_does_not_end_the_run_with_success() throws Exception {
    run(worker -> {
      if (worker.replica() == 1) {
        throw new PeerLost("shard 1 is lost");
      }
    });
  }

  /** The run fails with the message of replica 0 itself. */
  @Test
  void when_both_replicas_lose_a_peer_then_the_run_fails_of_it() throws Exception {
    run(worker -> {
      throw new PeerLost("shard 1 is lost");
    });
  }
}
