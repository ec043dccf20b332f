package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.push.PushHold;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two shards of one job without rounds, whose snapshots are to contain the same pushes of each trainer. */
class PushHoldTest {

  private static final JobSpec JOB = new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 2, 1,
      new ModelSpec(1, List.of(new DenseVariable("w", List.of(2))), OptimizerSpec.sgd(1), List.of()));

  private final List<ParameterShard> shards = List.of(shard(0), shard(1));
  private final List<List<PushMark>> marks = new ArrayList<>();
  private final List<JobSnapshot> taken = new ArrayList<>();
  private final List<String> answered = new ArrayList<>();

  private static ParameterShard shard(int index) {
    ParameterShard shard = new ParameterShard(index, ShardLimits.defaults(), TestClock.at(1));
    for (int rank = 0; rank < 2; rank++) {
      shard.register(JOB, new TrainerId(rank, 10 + rank), 0);
    }
    shard.initialize("job", new TrainerId(0, 10), DenseMemory.of(new float[1]));
    return shard;
  }

  private static TrainerProgress progress(long step) {
    Replica replica = new Replica(step, List.of(new Part(0, 0, 2, step)));
    return new TrainerProgress(step, step, step, 3 * step, List.of(replica));
  }

  private void push(int rank, long sequence, int... to) {
    for (int shard : to) {
      String name = rank + "/" + sequence + "@" + shard;
      shards.get(shard).push("job", new Push(List.of(new Contributor(rank, 10 + rank, sequence, 1, progress(sequence))), sequence - 1, 0,
          DenseMemory.of(new float[] {1}), List.of()))
              .whenComplete((ack, e) -> answered.add(e == null ? name : name + " " + e.getClass().getSimpleName()));
    }
  }

  private void hold(int shard) {
    hold(shard, "step-1");
  }

  private void hold(int shard, String holder) {
    shards.get(shard).hold("job", holder).whenComplete((m, e) -> marks.add(m));
  }

  private void snapshot(int shard, List<PushMark> upTo) {
    snapshot(shard, "step-1", upTo);
  }

  private void snapshot(int shard, String holder, List<PushMark> upTo) {
    shards.get(shard).snapshot("job", holder, 0, upTo, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
  }

  private void endHold(int shard, String holder) {
    shards.get(shard).endHold("job", holder);
  }

  @Test
  void containsTheSamePushesAtAllShards_whenOneHasComeToSomeOnly() {
    push(0, 1, 0, 1);
    push(1, 1, 0, 1);
    hold(0);
    push(1, 2, 0, 1); // shard 1 takes it
    hold(1);
    assertThat(marks).containsExactly(List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 1)),
        List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 2)));
    push(1, 3, 0, 1);
    push(0, 2, 1);
    assertThat(answered).containsExactly("0/1@0", "0/1@1", "1/1@0", "1/1@1", "1/2@1");
    snapshot(0, marks.get(1));
    snapshot(1, marks.get(1));
    assertThat(taken).hasSize(2).allSatisfy(s -> {
      assertThat(s.whole()).isTrue();
      assertThat(s.trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 2L);
      assertThat(s.trainers()).extracting(SavedTrainer::progress).containsExactly(progress(1), progress(2));
    });
    assertThat(answered).contains("1/2@0", "1/3@0", "1/3@1", "0/2@1").hasSize(9);
  }

  @Test
  void waitsForAPushThatIsOnItsWay_untilTheHoldEnds() {
    hold(0);
    snapshot(0, List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 0)));
    assertThat(taken).isEmpty();
    push(1, 1, 0);
    assertThat(answered).isEmpty();
    assertThat(shards.get(0).waits()).extracting(w -> w.toString()).anyMatch(w -> w.contains("the moment of a snapshot"));
    push(0, 1, 0);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 0L);
    assertThat(answered).containsExactlyInAnyOrder("0/1@0", "1/1@0");
    taken.get(0).end(true);

    hold(0);
    snapshot(0, List.of(new PushMark(0, 10, 2)));
    endHold(0, "step-1");
    assertThat(taken).as("what it waited for does not come").hasSize(2);
    push(0, 2, 0);
    assertThat(answered).contains("0/2@0");
  }

  @Test
  void takesWhatHasCome_whenTheHoldHasRunOutOfTimeBefore() {
    hold(0);
    endHold(0, "step-1");
    snapshot(0, List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 0)));
    assertThat(taken).as("nobody would end a wait for the push that has not come").hasSize(1);
    push(0, 1, 0);
    assertThat(answered).containsExactly("0/1@0");
  }

  @Test
  void endsTheHold_whenTheMomentComesWithAPushOfATrainerThatLeaves() {
    hold(0);
    shards.get(0).push("job", new Push(List.of(new Contributor(0, 10, 1, 1), new Contributor(1, 11, 1, 1)), 0, 0,
        DenseMemory.of(new float[] {1}), List.of())).whenComplete((ack, e) -> answered.add("both " + e));
    snapshot(0, List.of(new PushMark(0, 10, 1)));
    assertThat(taken).isEmpty();
    shards.get(0).leave("job", new TrainerId(1, 11));
    assertThat(taken).hasSize(1);
    assertThat(answered).containsExactly("both null");
    push(0, 2, 0);
    assertThat(answered).containsExactly("both null", "0/2@0");
  }

  @Test
  void waitsForThePushesOfItsMarks_whenAnotherSnapshotIsAskedForMeanwhile() {
    push(1, 1, 0, 1);
    push(0, 1, 1);
    List<PushMark> atAll = List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 1));
    hold(0, "step-1");
    snapshot(0, "step-1", atAll);
    hold(0, "step-2");
    push(1, 2, 0);
    assertThat(taken).as("the push of trainer 0 that shard 1 has is still to come").isEmpty();
    push(0, 1, 0);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 1L);
    assertThat(answered).as("pushes still wait, for the other snapshot").doesNotContain("1/2@0");
    taken.get(0).end(true);
    snapshot(0, "step-2", atAll);
    assertThat(taken).hasSize(2);
    assertThat(taken.get(1).trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 1L);
    assertThat(answered).contains("1/2@0");
  }

  @Test
  void tellsTheExamplesOfAPushThatHasBeenAppliedInPart() {
    push(0, 1, 0);
    Push known = new Push(List.of(new Contributor(0, 10, 2, 1, progress(2))), 1, 0, null, List.of());
    shards.get(0).begin("job", known, 1);
    shards.get(0).snapshot("job", 0, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    assertThat(taken.get(0).whole()).isFalse();
    assertThat(taken.get(0).trainers()).extracting(SavedTrainer::ahead).containsExactly(3L, 0L);
  }

  @Test
  void answersAllWhoHold_whenThePushUnderWayHasEnded() {
    Push known = new Push(List.of(new Contributor(0, 10, 1, 1)), 0, 0, null, List.of());
    DenseSink dense = shards.get(0).begin("job", known, 1);
    hold(0, "step-1");
    hold(0, "step-1"); // its first answer was lost
    hold(0, "step-2");
    assertThat(marks).isEmpty();
    dense.put(ByteBuffer.allocate(Float.BYTES));
    Push whole = new Push(known.contributors(), 0, 0, dense.values(), List.of());
    shards.get(0).push("job", whole).whenComplete((ack, e) -> answered.add("0/1@0"));
    assertThat(marks).hasSize(3).containsOnly(List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 0)));
  }

  @Test
  void letsNothingIn_whenOneOfTwoWhoHoldHasRunOutOfTime() {
    hold(0, "step-1");
    snapshot(0, "step-1", List.of(new PushMark(0, 10, 1), new PushMark(1, 11, 0)));
    hold(0, "step-2");
    push(1, 1, 0);
    endHold(0, "step-2");
    assertThat(taken).as("the first one still waits for its push").isEmpty();
    assertThat(answered).isEmpty();
    push(0, 1, 0);
    assertThat(taken).hasSize(1);
    assertThat(taken.get(0).trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 0L);
    assertThat(answered).containsExactlyInAnyOrder("0/1@0", "1/1@0");
  }

  @Test
  void refusesTheSecondSnapshotAtOneMoment_andEndsItsHold() {
    hold(0, "step-1");
    snapshot(0, "step-1", List.of(new PushMark(0, 10, 1)));
    hold(0, "step-2");
    snapshot(0, "step-2", List.of(new PushMark(0, 10, 0)));
    assertThat(taken).as("refused").containsExactly((JobSnapshot) null);
    push(1, 1, 0);
    push(0, 1, 0);
    assertThat(taken).hasSize(2);
    assertThat(taken.get(1).trainers()).extracting(SavedTrainer::sequence).containsExactly(1L, 0L);
    assertThat(answered).as("nobody holds them any more").containsExactlyInAnyOrder("0/1@0", "1/1@0");
  }

  @Test
  void refusesMoreSnapshotsThanMayHold_butNotOneThatHoldsAlready() {
    for (int n = 0; n < PushHold.HOLDERS; n++) {
      hold(0, "step-" + n);
    }
    hold(0, "one more");
    assertThat(marks).hasSize(PushHold.HOLDERS + 1).element(PushHold.HOLDERS).as("refused").isNull();
    hold(0, "step-0");
    assertThat(marks).element(PushHold.HOLDERS + 1).isNotNull();
  }

  @Test
  void refusesAHoldOfAJobWithRounds_whichNothingWouldEnd() {
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    JobSpec rounds = new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 1, JOB.model());
    shard.register(rounds, new TrainerId(0, 10), 0);
    List<Throwable> errors = new ArrayList<>();
    shard.hold("job", "step-1").whenComplete((m, e) -> errors.add(e));
    assertThat(errors).hasSize(1).first().isInstanceOf(InvalidInput.class);
  }

  @Test
  void doesNotWaitForATrainerThatIsLost() {
    hold(0);
    snapshot(0, List.of(new PushMark(0, 10, 0), new PushMark(1, 11, 1)));
    shards.get(0).lost("job", new TrainerId(1, 11));
    assertThat(taken).hasSize(1);
  }

  @Test
  void refusesWhatATrainerPushesBeyondItsLimit_andFailsWhatWaits_whenTheJobEnds() {
    hold(0);
    int limit = ShardLimits.defaults().openRounds();
    for (int n = 1; n <= limit + 1; n++) {
      push(1, n, 0);
    }
    assertThat(answered).containsExactly("1/" + (limit + 1) + "@0 " + Overloaded.class.getSimpleName());
    shards.get(0).leave("job", new TrainerId(1, 11));
    assertThat(answered).as("it leaves behind what it has pushed").hasSize(limit + 1).noneMatch(a -> a.endsWith(Cancelled.class.getSimpleName()));
  }

  @Test
  void beginsEachTrainerWhereItWas_whenARunIsResumed() {
    ParameterShard resumed = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    resumed.register(JOB, new TrainerId(0, 20), 0);
    resume(resumed);
    assertThat(resumed.register(JOB, new TrainerId(1, 21), 0)).isEqualTo(30);
    resumed.snapshot("job", 0, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    assertThat(taken.get(0).trainers()).containsExactly(new SavedTrainer(0, 20, 0, 40, progress(39), 0, true),
        new SavedTrainer(1, 21, 0, 30, progress(30), 0, true));
    assertThat(taken.get(0).version()).isEqualTo(70);
  }

  @Test
  void beginsATrainerWhereItWas_whenItWasLostBeforeTheRunWasResumed() {
    ParameterShard resumed = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    resumed.register(JOB, new TrainerId(0, 20), 0);
    resumed.lost("job", new TrainerId(1, 21));
    resume(resumed);
    resumed.snapshot("job", 0, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    taken.get(0).end(true);
    assertThat(taken.get(0).trainers()).as("what the values contain of a trainer does not go with it").containsExactly(
        new SavedTrainer(0, 20, 0, 40, progress(39), 0, true),
        new SavedTrainer(1, 21, 0, 30, progress(30), 0, false));
    assertThat(resumed.register(JOB, new TrainerId(1, 22), 0)).as("level with the other trainer").isEqualTo(40);
    resumed.snapshot("job", 0, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    assertThat(taken.get(1).trainers()).element(1)
        .isEqualTo(new SavedTrainer(1, 22, 0, 40, progress(30), 0, true));
  }

  @Test
  void keepsWhereATrainerWas_whenItIsLostBeforeItComesToAResumedRun() {
    ParameterShard resumed = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));
    resumed.register(JOB, new TrainerId(0, 20), 0);
    resume(resumed);
    resumed.lost("job", new TrainerId(1, 21));
    resumed.snapshot("job", 0, Scope.ALL, 1 << 20).whenComplete((s, e) -> taken.add(s));
    assertThat(taken.get(0).trainers()).element(1)
        .isEqualTo(new SavedTrainer(1, 21, 0, 30, progress(30), 0, false));
  }

  private static void resume(ParameterShard resumed) {
    List<TrainerStart> trainers = List.of(new TrainerStart(0, 40, progress(39)), new TrainerStart(1, 30, progress(30)));
    resumed.restore("job").finish(new float[][] {{1}}, new float[][][] {{}}, 70, snapshotUpdates(),
        new ResumePoint(0, trainers));
  }

  private static OptimizerUpdates snapshotUpdates() {
    return OptimizerUpdates.all(70, List.of());
  }
}
