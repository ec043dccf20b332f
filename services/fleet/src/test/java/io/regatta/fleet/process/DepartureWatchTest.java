package io.regatta.fleet.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.parameterserver.JobStatus;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.parameterserver.TrainerStatus;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DepartureWatchTest {

  private static final DepartureWatch.Pace PACE = new DepartureWatch.Pace(1, 20, 1);

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() {
    Blocking.get(vertx.close());
  }

  @Test
  void who_holds_a_job_is_waited_for_and_named_when_that_takes_longer() {
    List<String> answers = new ArrayList<>(List.of("", "trainers 1 of job a", "trainers 1 of job a", "trainers 1, 3 of job a"));
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    DepartureWatch left = new DepartureWatch(VertxLoop.current(vertx), () -> Future.succeededFuture(told.isEmpty()
        ? answers.get(3) : answers.remove(answers.size() - 1)), told::add, PACE);
    Blocking.get(left.await());
    assertThat(told).containsExactly("trainers 1, 3 of job a", "trainers 1 of job a");
    assertThat(answers).isEmpty();
  }

  @Test
  void a_service_that_does_not_answer_once_is_asked_again_and_one_that_never_does_fails() {
    List<Future<String>> answers = new ArrayList<>(List.of(Future.succeededFuture(""), Future.failedFuture(new PeerLost("busy"))));
    Blocking.get(new DepartureWatch(VertxLoop.current(vertx), () -> answers.remove(answers.size() - 1), who -> { }, PACE)
        .await());
    assertThatThrownBy(() -> Blocking.get(new DepartureWatch(VertxLoop.current(vertx),
        () -> Future.failedFuture(new PeerLost("gone")), who -> { }, PACE).await())).isInstanceOf(PeerLost.class).hasMessage("gone");
  }

  @Test
  void holders_are_the_active_trainers_of_all_shards() {
    JobStatus.Builder job = JobStatus.newBuilder().setJob("a").addTrainers(TrainerStatus.newBuilder().setRank(3).setState("active"))
        .addTrainers(TrainerStatus.newBuilder().setRank(0).setState("left"));
    JobStatus.Builder other = JobStatus.newBuilder().setJob("a").addTrainers(TrainerStatus.newBuilder().setRank(1).setState("active"));
    assertThat(DepartureWatch.holders(List.of(
        StatusReply.newBuilder().addShards(ShardStatus.newBuilder().addJobs(job)).build(),
        StatusReply.newBuilder().addShards(ShardStatus.newBuilder().addJobs(other)).build()))).isEqualTo("trainers 1, 3 of job a");
    assertThat(DepartureWatch.holders(List.of(StatusReply.newBuilder().addShards(ShardStatus.newBuilder()).build())))
        .isEmpty();
  }
}
