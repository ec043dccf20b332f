package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
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
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Offset;

/** A sync job on a real shard's state: what aggregators in front of it change, and what they must not. */
class SameResultPropertyTest {
  private static final int DENSE = 7;
  private static final int STEPS = 3;
  private static final long[] IDS = LongStream.range(0, 6).toArray();

  /** Per step and rank, drawn once and pushed in every arrangement. */
  private record Gradients(int trainers, double[][] weights, float[][][] dense, SparseRows[][] sparse) {

    static Gradients random(int trainers, boolean equalWeights, Random random) {
      double[][] weights = new double[STEPS][trainers];
      float[][][] dense = new float[STEPS][trainers][];
      SparseRows[][] sparse = new SparseRows[STEPS][trainers];
      for (int step = 0; step < STEPS; step++) {
        for (int rank = 0; rank < trainers; rank++) {
          weights[step][rank] = equalWeights ? 32 : random.nextInt(5) == 0 ? 0 : 1 + random.nextInt(100);
          dense[step][rank] = floats(random, DENSE);
          long[] ids = LongStream.of(IDS).filter(id -> random.nextBoolean()).toArray();
          sparse[step][rank] = new SparseRows("words", ids, floats(random, 2 * ids.length));
        }
      }
      return new Gradients(trainers, weights, dense, sparse);
    }

    private static float[] floats(Random random, int n) {
      float[] out = new float[n];
      for (int i = 0; i < n; i++) {
        out[i] = (float) random.nextGaussian();
      }
      return out;
    }

    Push push(int rank, int step) {
      return new Push(List.of(new Contributor(rank, 100 + rank, step + 1, weights[step][rank])), step, 0,
          DenseMemory.of(dense[step][rank]), List.of(sparse[step][rank]));
    }
  }

  /** The parameters after all steps; {@code hostOf} puts ranks behind aggregators, -1 is the direct way. */
  private static List<Float> train(Gradients gradients, OptimizerSpec optimizer, int[] hostOf, Random arrival) {
    int trainers = gradients.trainers();
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(DENSE))), optimizer,
        List.of(new SparseTableSpec("words", 2, InitializerSpec.zeros(), optimizer)));
    JobSpec job = new JobSpec("job", Mode.SYNC, trainers, 0, NanPolicy.FAIL, 1, 8192, model);
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
    AggregationRounds[] hosts = new AggregationRounds[trainers];
    for (int rank = 0; rank < trainers; rank++) {
      shard.register(job, new TrainerId(rank, 100 + rank), 0);
      hosts[rank] = new AggregationRounds("job", 0, new AggregationRounds.Limits(64, 1 << 20), to(shard), TestClock.at(0));
    }
    for (int rank = 0; rank < trainers; rank++) {
      if (hostOf[rank] >= 0) {
        hosts[hostOf[rank]].register(new TrainerId(rank, 100 + rank));
      }
    }
    shard.initialize("job", new TrainerId(0, 100), DenseMemory.of(new float[DENSE]));
    List<Integer> order = new ArrayList<>(IntStream.range(0, trainers).boxed().toList());
    for (int step = 0; step < STEPS; step++) {
      Collections.shuffle(order, arrival);
      List<Answers> acks = new ArrayList<>();
      for (int rank : order) {
        Push push = gradients.push(rank, step);
        if (hostOf[rank] >= 0) {
          acks.add(Answers.to(hosts[hostOf[rank]].push(push)));
        } else {
          acks.add(Answers.to(shard.push("job", push)));
        }
      }
      assertThat(acks).allMatch(ack -> ack.ack != null);
    }
    List<Float> result = new ArrayList<>();
    Pull everything = new Pull(0, STEPS, true, List.of(new SparseIds("words", IDS)), false);
    Pulled pulled = shard.pull("job", everything).toCompletableFuture().join();
    for (float x : pulled.dense().toArray()) {
      result.add(x);
    }
    for (float x : pulled.sparse().get(0).values()) {
      result.add(x);
    }
    assertThat(result).hasSize(DENSE + 2 * IDS.length);
    return result;
  }

  private static AggregationRounds.Shard to(ParameterShard shard) {
    return new AggregationRounds.Shard() {
      @Override
      public CompletionStage<PushAck> push(Push push) {
        return shard.push("job", push);
      }

      @Override
      public CompletionStage<PushAck> pushAlone(Push push) {
        return push(push);
      }

      @Override
      public void failed(String what, Throwable fault) {
        throw new AssertionError(what, fault);
      }
    };
  }

  private static int[] all(int trainers, int host) {
    return IntStream.range(0, trainers).map(rank -> host).toArray();
  }

  @Property(tries = 100)
  void behindOneAggregator_theResultIsTheSameBitForBit(@ForAll @IntRange(min = 1, max = 6) int trainers,
      @ForAll boolean equalWeights, @ForAll long seed) {
    Random random = new Random(seed);
    Gradients gradients = Gradients.random(trainers, equalWeights, random);
    OptimizerSpec adam = OptimizerSpec.of("adam", 0.1);
    List<Float> direct = train(gradients, adam, all(trainers, -1), random);
    assertThat(train(gradients, adam, all(trainers, 0), random)).isEqualTo(direct);
  }

  @Property(tries = 100)
  void behindSeveralAggregators_theResultIsDeterministicAndTheSameWithinRounding(
      @ForAll @IntRange(min = 2, max = 6) int trainers, @ForAll long seed) {
    Random random = new Random(seed);
    Gradients gradients = Gradients.random(trainers, false, random);
    int[] hostOf = IntStream.range(0, trainers).map(rank -> random.nextInt(3) - 1).toArray();
    OptimizerSpec sgd = OptimizerSpec.sgd(1); // linear: rounding of the mean is not amplified
    List<Float> first = train(gradients, sgd, hostOf, random);
    assertThat(train(gradients, sgd, hostOf, random)).isEqualTo(first);
    List<Float> direct = train(gradients, sgd, all(trainers, -1), random);
    for (int i = 0; i < direct.size(); i++) {
      assertThat(first.get(i)).isCloseTo(direct.get(i), Offset.offset(1e-5f));
    }
  }
}
