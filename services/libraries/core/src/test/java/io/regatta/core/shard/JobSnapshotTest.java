package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.table.RowWalk;
import io.regatta.core.table.TableSnapshot;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that a job saved at a step and resumed elsewhere has the same bits as the one that continues here. */
class JobSnapshotTest {

  private static final int DENSE = 20_000;
  private static final long[] IDS = {3, 77, 4, 1000, -5};

  private static ModelSpec model() {
    return new ModelSpec(9, List.of(new DenseVariable("w", List.of(DENSE))), OptimizerSpec.of("adam", 0.1),
        List.of(new SparseTableSpec("emb", 4, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1))));
  }

  private static JobSpec job(Mode mode) {
    return new JobSpec("job", mode, 2, 0, NanPolicy.FAIL, 1, 8192, model());
  }

  /** A shard with its job's two trainers, which do the same in every step of the same number. */
  private static final class Run {
    final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    final long incarnation;
    long[] sequence = new long[2];
    final List<Answer<PushAck>> acks = new ArrayList<>();

    Run(Mode mode, long incarnation) {
      this.incarnation = incarnation;
      for (int rank = 0; rank < 2; rank++) {
        shard.register(job(mode), new TrainerId(rank, incarnation), 0);
      }
    }

    Run initialized() {
      float[] first = new float[DENSE];
      Arrays.fill(first, 0.5f);
      shard.initialize("job", new TrainerId(0, incarnation), DenseMemory.of(first).slice(
          DensePartition.of(model().dense(), 1, 8192), 0));
      return this;
    }

    void push(int rank, long step) {
      Random random = new Random(step * 2 + rank);
      float[] dense = new float[DENSE];
      float[] rows = new float[IDS.length * 4];
      for (int i = 0; i < DENSE; i++) {
        dense[i] = random.nextFloat() - 0.5f;
      }
      for (int i = 0; i < rows.length; i++) {
        rows[i] = random.nextFloat() - 0.5f;
      }
      Push push = new Push(List.of(new Contributor(rank, incarnation, ++sequence[rank], 10)), step, 0,
          DenseMemory.of(dense).slice(DensePartition.of(model().dense(), 1, 8192), 0),
          List.of(new SparseRows("emb", IDS, rows)));
      acks.add(Answer.to(shard.push("job", push)));
    }

    void steps(long from, long to) {
      for (long step = from; step < to; step++) {
        push(0, step);
        push(1, step);
      }
    }

    JobSnapshot snapshot(long step) {
      assertThat(acks).allMatch(ack -> ack.error == null);
      List<JobSnapshot> taken = new ArrayList<>();
      shard.snapshot("job", step, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
      return taken.isEmpty() ? null : taken.get(0);
    }
  }

  /** Fetches a snapshot and puts it into a new run, as files would. */
  private static void move(JobSnapshot from, Run to, Runnable between) {
    JobRestore into = to.shard.restore("job");
    RowWalk walk = from.tables().get(0).rows();
    long[] ids = new long[walk.leastRoom()];
    float[] floats = new float[ids.length * walk.width()];
    between.run();
    for (int n = walk.next(ids, floats); n > 0; n = walk.next(ids, floats)) {
      into.rows("emb", ids, floats, n);
    }
    int blocks = DenseValues.blocks(DENSE);
    float[][] values = new float[blocks][];
    float[][][] slots = new float[blocks][2][];
    for (int b = 0; b < blocks; b++) {
      int length = Math.min(DenseValues.BLOCK, DENSE - b * DenseValues.BLOCK);
      values[b] = Arrays.copyOf(from.dense().values(b), length);
      for (int k = 0; k < 2; k++) {
        slots[b][k] = from.dense().slots(b)[k].clone();
      }
      from.dense().releaseUntil(b + 1);
      between.run();
    }
    into.finish(values, slots, from.version(), from.updates(), new ResumePoint(from.step(), List.of()));
    from.end(true);
  }

  @Test
  void a_run_that_goes_on_from_a_snapshot_has_the_bits_of_the_unbroken_one() {
    Run unbroken = new Run(Mode.SYNC, 1).initialized();
    unbroken.steps(0, 10);
    JobSnapshot snapshot = unbroken.snapshot(10);
    Run resumed = new Run(Mode.SYNC, 5);
    long[] step = {10};
    move(snapshot, resumed, () -> { // which goes on meanwhile
      unbroken.steps(step[0], step[0] + 1);
      step[0]++;
    });
    resumed.steps(10, 20);
    unbroken.steps(step[0], 20);
    assertThat(resumed.shard.digest("job")).isEqualTo(unbroken.shard.digest("job"));
    assertThat(resumed.shard.status("job").version()).isEqualTo(20);
    Pulled[] pulled = new Pulled[2];
    unbroken.shard.pull("job", new Pull(0, 20, true, List.of(new SparseIds("emb", IDS)), false))
        .whenComplete((p, e) -> pulled[0] = p);
    resumed.shard.pull("job", new Pull(0, 20, true, List.of(new SparseIds("emb", IDS)), false))
        .whenComplete((p, e) -> pulled[1] = p);
    assertThat(pulled[1].dense().toArray()).isEqualTo(pulled[0].dense().toArray());
    assertThat(pulled[1].sparse().get(0).values()).isEqualTo(pulled[0].sparse().get(0).values());
  }

  @Test
  void a_snapshot_waits_for_the_rounds_before_its_step_and_lets_none_pass() {
    Run run = new Run(Mode.SYNC, 1).initialized();
    run.steps(0, 3);
    run.push(1, 3);
    List<JobSnapshot> taken = new ArrayList<>();
    run.shard.snapshot("job", 4, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    assertThat(taken).isEmpty();
    run.push(1, 4);
    assertThat(taken).isEmpty();
    assertThatThrownBy(() -> failure(run, Scope.ALL)).isInstanceOf(Overloaded.class);
    run.push(0, 3);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).step()).isEqualTo(4);
    assertThat(taken.get(0).trainers()).extracting(SavedTrainer::clock).containsExactly(4L, 5L);
    run.push(0, 4); // and training goes on
    assertThat(run.shard.status("job").version()).isEqualTo(5);
    taken.get(0).end(true);
    assertThat(run.snapshot(5)).isNotNull();
  }

  @Test
  void a_snapshot_holds_the_progress_of_the_rounds_before_its_step() {
    Run run = new Run(Mode.SYNC, 1).initialized();
    for (int rank = 0; rank < 2; rank++) {
      TrainerProgress progress = new TrainerProgress(7 + rank, 1, 5, List.of());
      run.shard.push("job",
          new Push(List.of(new Contributor(rank, 1, ++run.sequence[rank], 1, progress)), 0, 0, null, List.of()));
    }
    JobSnapshot snapshot = run.snapshot(1);
    assertThat(snapshot.trainers()).extracting(t -> t.progress().localSteps()).containsExactly(7L, 8L);
    snapshot.end(true);
  }

  @Test
  void a_delta_needs_a_base() {
    Run run = new Run(Mode.ASYNC, 1).initialized();
    run.steps(0, 1);
    assertThatThrownBy(() -> failure(run, Scope.DELTA)).isInstanceOf(InvalidInput.class).hasMessageContaining("save a base");
  }

  private static void failure(Run run, Scope scope) throws Throwable {
    Throwable[] failure = new Throwable[1];
    run.shard.snapshot("job", 0, scope, 1 << 20).whenComplete((s, e) -> failure[0] = e);
    throw failure[0];
  }

  @Test
  void a_run_that_has_begun_takes_no_snapshot_in() {
    Run run = new Run(Mode.SYNC, 1).initialized();
    run.steps(0, 1);
    assertThatThrownBy(() -> run.shard.restore("job")).isInstanceOf(Conflict.class).hasMessageContaining("has begun");
  }

  private static JobState withTwoTables(Completions completions) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec two = new ModelSpec(1, List.of(), sgd, List.of(new SparseTableSpec("a", 1, InitializerSpec.zeros(), sgd),
        new SparseTableSpec("b", 1, InitializerSpec.zeros(), sgd)));
    JobState job = new JobState(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, two), 0,
        ShardLimits.defaults(), new BlockPool(), TestClock.at(1), null, completions);
    job.tables.table("a");
    return job;
  }

  @Test
  void who_has_asked_for_a_snapshot_that_cannot_be_taken_is_told_and_the_next_one_can_be_taken() {
    Completions completions = new Completions();
    JobState job = withTwoTables(completions);
    TableSnapshot other = TableSnapshot.take(job.tables.table("b"), Scope.ALL, 0);
    CompletableFuture<JobSnapshot> first = new CompletableFuture<>();
    job.snapshots.ask("first", 0, false, Scope.ALL, 0, first);
    job.context.turns.begin();
    assertThat(job.snapshots.takeIfDue()).isTrue();
    completions.drain();
    assertThat(first).isCompletedExceptionally();
    assertThatThrownBy(first::join).hasCauseInstanceOf(IllegalStateException.class);
    other.end(true);
    CompletableFuture<JobSnapshot> second = new CompletableFuture<>();
    job.snapshots.ask("second", 0, false, Scope.ALL, 0, second);
    assertThat(job.snapshots.takeIfDue()).isTrue();
    completions.drain();
    assertThat(second.join().tables()).hasSize(2);
    assertThat(job.snapshots.takeIfDue()).as("nobody has asked for a third one").isFalse();
  }

  /** Memory may run out at this point; here another walk is in progress. */
  @Test
  void a_snapshot_that_cannot_begin_leaves_nothing_open() {
    JobState job = withTwoTables(new Completions());
    TableSnapshot other = TableSnapshot.take(job.tables.table("b"), Scope.ALL, 0);
    JobSnapshot first = new JobSnapshot(job, 0, Scope.ALL, 0, () -> { });
    assertThat(first.advance(2)).isFalse();
    assertThat(first.failure()).isInstanceOf(IllegalStateException.class);
    first.end(false);
    other.end(true);
    JobSnapshot second = new JobSnapshot(job, 0, Scope.ALL, 0, () -> { });
    assertThat(second.advance(2)).isFalse();
    assertThat(second.failure()).isNull();
    assertThat(second.tables()).hasSize(2);
  }
}
