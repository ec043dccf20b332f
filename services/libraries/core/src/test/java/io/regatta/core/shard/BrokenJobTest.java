package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of a job that breaks on its shard: every request that waits is answered, and other jobs continue. */
class BrokenJobTest {

  private static final JobSpec BROKEN = spec("broken", 2, Mode.SYNC);
  private static final JobSpec OTHER = spec("other", 1, Mode.SYNC);
  private static final TrainerId FIRST = new TrainerId(0, 1);
  private static final TrainerId SECOND = new TrainerId(1, 1);

  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1_000));

  private static JobSpec spec(String job, int trainers, Mode mode) {
    return new JobSpec(job, mode, trainers, 0, NanPolicy.FAIL, 1, 4, LocalJob.model(OptimizerSpec.sgd(0.1)));
  }

  @Test
  void aRoundThatFailsInItsMiddleAnswersEverybodyAndBreaksOnlyItsJob() {
    start(BROKEN);
    start(OTHER);
    // The shard is promised that what it was given stays as it is: broken here, to make the application fail.
    List<SparseRows> rows = new ArrayList<>(List.of(new SparseRows(LocalJob.WIDE, new long[] {1}, new float[] {1})));
    Answer<PushAck> early = push(BROKEN, FIRST, rows);
    Answer<Pulled> parked = pull(BROKEN, FIRST, 1);
    rows.set(0, null);
    assertThat(early.error).isNull();

    Answer<PushAck> last = push(BROKEN, SECOND, List.of());
    for (Answer<?> answer : List.of(early, parked, last, push(BROKEN, SECOND, List.of()), pull(BROKEN, SECOND, 0))) {
      assertThat(answer.error).isInstanceOf(PeerLost.class)
          .hasMessageContainingAll("job broken", "shard 0", "round of step 0", "NullPointerException", "start it again");
    }
    assertThat(shard.waits()).isEmpty();

    assertThat(push(OTHER, FIRST, List.of()).value.version()).isEqualTo(1);
    shard.leave("broken", FIRST);
    shard.leave("broken", SECOND);
    assertThat(shard.jobs()).containsExactly("other");
    start(BROKEN);
    assertThat(pull(BROKEN, FIRST, 0).value.dense().toArray()).isEqualTo(LocalJob.initial());
  }

  /** Wherever the beginning of a push fails, it is refused and changes nothing, or breaks the job for everybody. */
  @Test
  void whoWaitsIsNotForgotten_whenTheBeginningOfAPushFails() {
    SparseRows good = new SparseRows(LocalJob.WIDE, new long[] {1, 2}, new float[2]);
    SparseRows bad = new SparseRows(LocalJob.WIDE, new long[] {1, 2}, new float[1]);
    int broken = 0;
    Throwable failure = null;
    for (int reads = 0; reads == 0 || failure != null; reads++) {
      JobSpec job = spec("job" + reads, 2, Mode.SSP);
      start(job);
      Answer<Pulled> waiting = pull(job, FIRST, 1);
      Push push = new Push(List.of(new Contributor(0, 1, 1, 8)), 0, 0, null, new ReplacedRows(good, bad, reads));
      failure = catchThrowable(() -> shard.begin(job.job(), push, LocalJob.initial().length));
      if (failure instanceof PeerLost) {
        broken++;
        assertThat(waiting.error).isSameAs(failure);
      } else {
        assertThat(waiting.error).isNull();
        assertThat(push(job, SECOND, List.of()).value).as("others go on").isNotNull();
      }
    }
    assertThat(broken).isPositive();
  }

  @Test
  void aPullOfMoreThanAnAnswerCanHoldIsRefusedAndHarmsNothing() {
    // 42966 x 49981 = 2^31 - 2: no JVM has an array of that length, whatever its heap.
    SparseTableSpec wide = new SparseTableSpec("rows", 42_966, InitializerSpec.zeros(), OptimizerSpec.sgd(0.1));
    JobSpec job = new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 4,
        new ModelSpec(7, List.of(), OptimizerSpec.sgd(0.1), List.of(wide)));
    shard.register(job, FIRST, 0);
    for (int ids : new int[] {49_981, 60_000}) {
      SparseIds wish = new SparseIds("rows", LongStream.range(0, ids).toArray());
      Answer<Pulled> refused = Answer.to(shard.pull("job", new Pull(0, 0, false, List.of(wish), false)));
      assertThat(refused.error).isInstanceOf(Overloaded.class)
          .hasMessageContainingAll("pull of step 0 of trainer 0", ids + " rows of table 'rows'", "pull less at a time");
    }
    assertThat(shard.status("job").rows()).containsEntry("rows", 0L);
    assertThat(pull(job, FIRST, 0).value).isNotNull();
  }

  @Test
  void aCallbackThatThrowsKeepsNoOtherFromItsAnswer() {
    start(BROKEN);
    Push first = new Push(List.of(new Contributor(0, 1, 1, 8)), 0, 0, null, List.of());
    shard.push("broken", first).whenComplete((ack, error) -> {
      throw new StackOverflowError("in a callback");
    });
    Answer<PushAck> second = Answer.to(shard.push("broken",
        new Push(List.of(new Contributor(1, 1, 1, 8)), 0, 0, null, List.of())));
    assertThat(second.value.version()).isEqualTo(1);
  }

  private void start(JobSpec job) {
    for (int rank = 0; rank < job.trainers(); rank++) {
      shard.register(job, new TrainerId(rank, 1), 0);
    }
    shard.initialize(job.job(), FIRST, DenseMemory.of(LocalJob.initial()));
  }

  private Answer<PushAck> push(JobSpec job, TrainerId from, List<SparseRows> rows) {
    Contributor me = new Contributor(from.rank(), from.incarnation(), 1, 8);
    return Answer.to(shard.push(job.job(), new Push(List.of(me), 0, 0, null, rows)));
  }

  private Answer<Pulled> pull(JobSpec job, TrainerId from, long minStep) {
    return Answer.to(shard.pull(job.job(), from, new Pull(from.rank(), minStep, true, List.of(), false)));
  }
}
