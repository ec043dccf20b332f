package io.regatta.heterworker.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.replica.Gradients;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrainerDenseTest {
  private static final TrainerId TRAINER = new TrainerId(3, 9);
  private static final int FIRST = 12;
  private static final int SECOND = 5;
  private static final int SHARDS = 2;

  private static JobSpec spec(NanPolicy policy) {
    return new JobSpec("ctr", Mode.SYNC, 4, 0, policy, SHARDS, 4, new ModelSpec(7,
        List.of(new DenseVariable("a", List.of(3, 4)), new DenseVariable("b", List.of(SECOND))),
        OptimizerSpec.sgd(0.5), List.of()));
  }

  private static TrainerDense dense(NanPolicy policy) {
    return new TrainerDense(spec(policy), TRAINER, null, Runnable::run, Runnable::run);
  }

  private static float[] ramp(int n, float from) {
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = from + i;
    }
    return values;
  }

  private static TensorData tensor(Role role, String name, float... values) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new TensorData(CutTensor.newBuilder().setRole(role).setName(name).addShape(values.length).build(), bytes);
  }

  private static float[] floats(TensorData data) {
    float[] values = new float[data.bytes().remaining() / Float.BYTES];
    data.bytes().duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }

  private static BatchToCompute batch(int replica, long step, int examples) {
    return new BatchToCompute(new BatchId(TRAINER, replica, step + 1), CutBatch.newBuilder().setReplica(replica)
        .setNumber(step + 1)
        .setStep(step).setExamples(examples).build(), List.of(tensor(Role.INPUT, "input 0", 1, 2)));
  }

  /** A result with an output and a gradient that begins with this value; variable b has none if it was not reached. */
  private static ComputedBatch result(BatchToCompute of, float from, boolean reachesB) {
    List<TensorData> tensors = new ArrayList<>(List.of(tensor(Role.OUTPUT, "output 0", 0.5f),
        tensor(Role.DENSE_GRADIENT, "a", ramp(FIRST, from))));
    if (reachesB) {
      tensors.add(tensor(Role.DENSE_GRADIENT, "b", ramp(SECOND, 10 * from)));
    }
    return new ComputedBatch(of.id(), CutResult.newBuilder().setNumber(of.id().number()).build(), tensors);
  }

  private static float[] flat(float from, boolean reachesB) {
    float[] flat = new float[FIRST + SECOND];
    System.arraycopy(ramp(FIRST, from), 0, flat, 0, FIRST);
    if (reachesB) {
      System.arraycopy(ramp(SECOND, 10 * from), 0, flat, FIRST, SECOND);
    }
    return flat;
  }

  private static Push push(long clock, double weight, long... localSteps) {
    List<TrainerProgress.Replica> replicas = new ArrayList<>();
    for (long steps : localSteps) {
      replicas.add(new TrainerProgress.Replica(steps, List.of()));
    }
    return new Push(List.of(new Contributor(TRAINER.rank(), TRAINER.incarnation(), clock + 1, weight,
        new TrainerProgress(localSteps[0], clock + 1, clock + 1, replicas))), clock, 0, null,
        List.of(new SparseRows("emb", new long[] {7}, new float[] {1})), true);
  }

  /** The flat gradient that pushes of all shards carry together; null if they carry none. */
  private static float[] pushed(TrainerDense dense, Push push) {
    float[] flat = new float[FIRST + SECOND];
    boolean any = false;
    for (int shard = 0; shard < SHARDS; shard++) {
      Push sent = dense.withGradient(push, shard).toCompletableFuture().join();
      assertThat(sent.sparse()).isEqualTo(push.sparse());
      assertThat(sent.contributors()).isEqualTo(push.contributors());
      DenseValues slice = sent.dense();
      if (slice != null) {
        any = true;
        dense.spec().partition().merge(slice.toArray(), shard, flat);
      }
      assertThat(dense.acknowledged(push.step(), SHARDS)).isFalse();
    }
    return any ? flat : null;
  }

  @Test
  void a_batch_is_computed_on_what_pulls_have_written() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    float[] values = ramp(FIRST + SECOND, 100);
    for (int shard = 0; shard < SHARDS; shard++) {
      dense.values(shard).write(DenseMemory.of(dense.spec().partition().slice(values, shard)));
    }
    BatchToCompute with = dense.withValues(batch(0, 0, 8));
    assertThat(with.tensors()).hasSize(3);
    assertThat(with.tensors().get(1).tensor().getName()).isEqualTo("a");
    assertThat(with.tensors().get(1).tensor().getShapeList()).containsExactly(3L, 4L);
    assertThat(with.tensors().get(1).tensor().getRole()).isEqualTo(Role.DENSE_VALUES);
    assertThat(floats(with.tensors().get(1))).isEqualTo(ramp(FIRST, 100));
    assertThat(floats(with.tensors().get(2))).isEqualTo(ramp(SECOND, 100 + FIRST));
  }

  @Test
  void a_gradient_goes_to_the_shards_with_the_push_of_its_step_and_not_to_the_trainer() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    for (long step = 0; step < 3; step++) {
      BatchToCompute batch = batch(0, step, 8);
      ComputedBatch answer = dense.keep(batch, result(batch, step + 1, step != 1));
      assertThat(answer.tensors()).hasSize(1);
      assertThat(pushed(dense, push(step + 5, 8, step + 1))).isEqualTo(flat(step + 1, step != 1));
    }
    assertThat(pushed(dense, push(8, 8, 4))).as("a push without a batch").isNull();
  }

  @Test
  void replicas_that_push_together_have_the_mean_by_their_examples() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    for (int replica : new int[] {1, 0}) {
      BatchToCompute batch = batch(replica, 4, 10 + replica);
      dense.keep(batch, result(batch, 3 * replica + 1, true));
    }
    Gradients mean = Gradients.merge(List.of(new Gradients(10, DenseMemory.of(flat(1, true)), List.of()),
        new Gradients(11, DenseMemory.of(flat(4, true)), List.of())));
    assertThat(pushed(dense, push(4, 21, 5, 5))).isEqualTo(mean.dense().toArray());
  }

  @Test
  void replicas_that_push_for_themselves_have_their_own() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    for (int replica = 0; replica < 2; replica++) {
      BatchToCompute batch = batch(replica, 4, 10);
      dense.keep(batch, result(batch, 3 * replica + 1, true));
    }
    assertThat(pushed(dense, push(9, 10, 4, 5))).as("of replica 1").isEqualTo(flat(4, true));
    assertThat(pushed(dense, push(10, 10, 5, 5))).as("of replica 0").isEqualTo(flat(1, true));
  }

  @Test
  void a_gradient_of_a_step_that_its_trainer_has_dropped_is_in_no_later_push() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    BatchToCompute batch = batch(0, 0, 8);
    dense.keep(batch, result(batch, 1, true));
    assertThat(pushed(dense, push(0, 0, 1))).isNull();
    assertThat(pushed(dense, push(1, 8, 2))).isNull();
  }

  @Test
  void a_gradient_that_is_not_finite_is_refused_by_the_name_of_its_variable() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    BatchToCompute batch = batch(0, 6, 8);
    assertThatThrownBy(() -> dense.keep(batch, result(batch, Float.NaN, true))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("push of step 6 of trainer 3 of job ctr").hasMessageContaining("gradient of 'a' is NaN");
  }

  @Test
  void a_gradient_of_a_parameter_that_its_trainer_has_not_is_refused() {
    TrainerDense dense = dense(NanPolicy.FAIL);
    BatchToCompute batch = batch(0, 0, 8);
    ComputedBatch computed = new ComputedBatch(batch.id(), result(batch, 1, true).head(), List.of(tensor(Role.DENSE_GRADIENT, "c", 1)));
    assertThatThrownBy(() -> dense.keep(batch, computed)).isInstanceOf(InvalidInput.class).hasMessageContaining("has a parameter c");
  }

  @Test
  void with_policy_skip_the_whole_push_of_such_a_gradient_is_empty() {
    TrainerDense dense = dense(NanPolicy.SKIP);
    BatchToCompute batch = batch(0, 0, 8);
    dense.keep(batch, result(batch, Float.NaN, true));
    for (int shard = 0; shard < SHARDS; shard++) {
      Push sent = dense.withGradient(push(0, 8, 1), shard).toCompletableFuture().join();
      assertThat(sent.dense()).isNull();
      assertThat(sent.sparse()).isEmpty();
      assertThat(sent.contributors().get(0).weight()).isZero();
      assertThat(sent.contributors().get(0).sequence()).isEqualTo(1);
      assertThat(dense.acknowledged(0, SHARDS)).as("the trainer counts it as skipped").isTrue();
    }
  }

  @Test
  void gradients_of_several_replicas_are_merged_by_the_executor_that_is_given_for_it() {
    ArrayDeque<Runnable> merges = new ArrayDeque<>();
    ArrayDeque<Runnable> loop = new ArrayDeque<>();
    TrainerDense dense = new TrainerDense(spec(NanPolicy.FAIL), TRAINER, null, merges::add, loop::add);
    for (int replica = 0; replica < 2; replica++) {
      BatchToCompute batch = batch(replica, 4, 10);
      dense.keep(batch, result(batch, 3 * replica + 1, true));
    }
    CompletableFuture<Push> whole = dense.withGradient(push(4, 20, 5, 5), 0).toCompletableFuture();
    assertThat(loop).isEmpty();
    merges.remove().run();
    assertThat(whole).isNotDone();
    loop.remove().run();
    assertThat(whole.join().dense()).isNotNull();
    assertThat(merges).as("once for all shards").isEmpty();
    assertThat(dense.withGradient(push(4, 20, 5, 5), 1).toCompletableFuture()).isCompleted();
    assertThat(merges).isEmpty();
  }

  /** What would be another trainer's NaN must not end this one, nor drop its push. */
  @Test
  void a_gradient_over_several_trainers_that_is_not_finite_is_refused_whatever_the_policy() {
    TrainerDense dense = dense(NanPolicy.SKIP);
    BatchToCompute batch = batch(0, 0, 8);
    ComputedBatch alone = result(batch, Float.NaN, true);
    ComputedBatch gathered = new ComputedBatch(alone.id(), alone.head().toBuilder().setGathered(true).build(),
        alone.tensors());
    assertThatThrownBy(() -> dense.keep(batch, gathered)).isInstanceOf(InvalidInput.class);
    dense.keep(batch, result(batch, 1, true));
    assertThat(pushed(dense, push(0, 8, 1))).isEqualTo(flat(1, true));
  }

  @Test
  void memory_of_a_gradient_is_used_again_when_all_shards_have_it() {
    GradientBuffers buffers = new GradientBuffers(8);
    ByteBuffer first = buffers.take();
    assertThat(buffers.take()).isNotSameAs(first);
    buffers.giveBack(first);
    assertThat(buffers.take()).isSameAs(first);
    for (int i = 0; i < 100; i++) {
      buffers.giveBack(ByteBuffer.allocateDirect(8));
    }
    long kept = IntStream.range(0, 100).mapToObj(i -> buffers.take())
        .filter(buffer -> buffer.order() == ByteOrder.BIG_ENDIAN).count();
    assertThat(kept).as("bounded").isLessThan(10);
  }
}
