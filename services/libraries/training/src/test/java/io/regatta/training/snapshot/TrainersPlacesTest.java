package io.regatta.training.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ShardSaver;
import io.regatta.snapshot.ShardTurns;
import io.regatta.training.config.JobConfig;
import io.regatta.training.session.LocalSession;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two trainers whose pushes, of eight examples each, have reached one of two shards, both, or one in part. */
class TrainersPlacesTest {

  private static final JobSpec JOB = new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 2, 1,
      new ModelSpec(1, List.of(new DenseVariable("w", List.of(2))), OptimizerSpec.sgd(1), List.of()));
  private static final int BATCH = 8;
  private static final ShardTurns HERE = new ShardTurns() {
    @Override
    public <T> T ask(Supplier<T> question) {
      return question.get();
    }
  };

  @TempDir
  Path dir;

  private final List<ParameterShard> shards = List.of(shard(0), shard(1));

  private static ParameterShard shard(int index) {
    ParameterShard shard = new ParameterShard(index, ShardLimits.defaults(), TestClock.at(1));
    for (int rank = 0; rank < 2; rank++) {
      shard.register(JOB, new TrainerId(rank, 10 + rank), 0);
    }
    shard.initialize("job", new TrainerId(0, 10), DenseMemory.of(new float[1]));
    return shard;
  }

  private static Push push(int rank, int sequence, long examples, boolean whole) {
    TrainerProgress progress = new TrainerProgress(sequence, sequence, sequence, examples, List.of());
    return new Push(List.of(new Contributor(rank, 10 + rank, sequence, BATCH, progress)), sequence - 1, 0,
        whole ? DenseMemory.of(new float[] {1}) : null, List.of());
  }

  private void push(int rank, int sequence, int... to) {
    for (int shard : to) {
      Push push = push(rank, sequence, (long) sequence * BATCH, true);
      assertThat(shards.get(shard).push("job", push)).isCompleted();
    }
  }

  private TrainersPlaces.At places(ExampleCounts known) throws IOException {
    return places(JOB, shards, known);
  }

  private TrainersPlaces.At places(JobSpec job, List<ParameterShard> shards, ExampleCounts known) throws IOException {
    List<FileEntry> files = new ArrayList<>();
    for (ParameterShard shard : shards) {
      JobSnapshot snapshot = shard.snapshot("job", 0, Scope.ALL, 1 << 20).toCompletableFuture().join();
      files.add(ShardSaver.save(snapshot, ConfinedDirectory.of(dir), HERE));
    }
    try (LocalSession session = new LocalSession(JobConfig.of(new JsonObject().put("job", "job")))) {
      return new TrainersPlaces(session, job).at(dir, files, 0, 0, new JsonObject(), known);
    }
  }

  @Test
  void when_all_shards_have_the_same_pushes_then_their_examples_are_trained_once() throws IOException {
    push(0, 1, 0, 1);
    push(0, 2, 0, 1);
    push(1, 1, 0, 1);
    TrainersPlaces.At at = places(new ExampleCounts(7, 5, 0));
    assertThat(at.fuzzy()).isFalse();
    assertThat(at.examples()).as("this rank knows what was repeated").isEqualTo(new ExampleCounts(3 * BATCH, 5, 0));
  }

  @Test
  void when_a_push_has_come_to_one_shard_only_then_its_examples_are_ahead() throws IOException {
    push(0, 1, 0, 1);
    push(0, 2, 0);
    push(0, 3, 0);
    push(1, 1, 0, 1);
    shards.get(1).begin("job", push(1, 2, 2 * BATCH, false), 1); // a part of it
    TrainersPlaces.At at = places(ExampleCounts.NONE);
    assertThat(at.fuzzy()).isTrue();
    assertThat(at.trainers()).extracting(Manifest.Trainer::progress).extracting(TrainerProgress::examples)
        .containsExactly((long) BATCH, (long) BATCH);
    assertThat(at.examples()).isEqualTo(new ExampleCounts(2 * BATCH, 0, 3 * BATCH));
  }

  /** It has come whole, and is too large for one turn of the shard. */
  @Test
  void when_a_push_has_been_applied_in_part_by_one_shard_then_its_trainer_is_before_it() throws IOException {
    int size = 1 << 20;
    JobSpec large = new JobSpec("job", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 2, 1,
        new ModelSpec(1, List.of(new DenseVariable("w", List.of(2 * size))), OptimizerSpec.sgd(1), List.of()));
    Queue<Runnable> later = new ArrayDeque<>();
    List<ParameterShard> both = List.of(new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1)),
        new ParameterShard(1, ShardLimits.defaults(), TestClock.at(1), later::add));
    List<CompletionStage<PushAck>> acks = new ArrayList<>();
    for (ParameterShard shard : both) {
      shard.register(large, new TrainerId(0, 10), 0);
      shard.initialize("job", new TrainerId(0, 10), DenseMemory.of(new float[size]));
      for (int sequence = 1; sequence <= 2; sequence++) {
        while (!later.isEmpty()) {
          later.remove().run();
        }
        TrainerProgress progress = new TrainerProgress(sequence, sequence, sequence, (long) sequence * BATCH,
            List.of());
        acks.add(shard.push("job", new Push(List.of(new Contributor(0, 10, sequence, BATCH, progress)), sequence - 1, 0,
            DenseMemory.of(new float[size]), List.of())));
      }
    }
    assertThat(acks).noneMatch(ack -> ack.toCompletableFuture().isCompletedExceptionally());
    TrainersPlaces.At at = places(large, both, ExampleCounts.NONE);
    assertThat(at.fuzzy()).isTrue();
    assertThat(at.trainers().get(0).sequences()).as("it has come to both").containsExactly(2L, 2L);
    assertThat(at.trainers().get(0).progress().examples()).isEqualTo(BATCH);
    assertThat(at.examples()).isEqualTo(new ExampleCounts(BATCH, 0, BATCH));
  }

  @Test
  void when_a_trainer_does_not_tell_its_examples_then_the_sum_is_not_known() throws IOException {
    push(0, 1, 0, 1);
    shards.forEach(shard -> assertThat(shard.push("job", new Push(List.of(new Contributor(1, 11, 1, BATCH)), 0, 0,
        DenseMemory.of(new float[] {1}), List.of()))).isCompleted());
    assertThat(places(ExampleCounts.NONE).examples()).isEqualTo(ExampleCounts.UNKNOWN);
  }

  @Test
  void when_a_trainer_has_pushed_nothing_then_it_has_trained_nothing() throws IOException {
    push(0, 1, 0, 1);
    assertThat(places(ExampleCounts.NONE).examples()).isEqualTo(new ExampleCounts(BATCH, 0, 0));
  }
}
