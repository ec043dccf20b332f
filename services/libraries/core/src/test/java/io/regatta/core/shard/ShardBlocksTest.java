package io.regatta.core.shard;

import static io.regatta.core.dense.DenseValues.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseBlocks;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** How many arrays of received gradients a shard keeps for later use. */
class ShardBlocksTest {

  private static final int BLOCKS = 3;
  private static final int TRAINERS = 4;
  private static final int ROUNDS = 10;

  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(1));

  /** Trainers push far ahead of the last one, which then closes all rounds. */
  private void train(String job) {
    ModelSpec model = new ModelSpec(7, List.of(new DenseVariable("w", List.of(BLOCKS * BLOCK))), OptimizerSpec.sgd(1),
        List.of());
    JobSpec spec = new JobSpec(job, Mode.SYNC, TRAINERS, 0, NanPolicy.FAIL, 1, 64, model);
    for (int r = 0; r < TRAINERS; r++) {
      shard.register(spec, new TrainerId(r, 1), 0);
    }
    shard.initialize(job, new TrainerId(0, 1), DenseMemory.of(new float[BLOCKS * BLOCK]));
    List<CompletionStage<PushAck>> acks = new ArrayList<>();
    for (int r = 0; r < TRAINERS; r++) {
      for (int step = 0; step < ROUNDS; step++) {
        DenseBlocks gradient = new DenseBlocks(BLOCKS * BLOCK, shard.blocks());
        gradient.put(ByteBuffer.allocate(BLOCKS * BLOCK * Float.BYTES));
        acks.add(shard.push(job, new Push(List.of(new Contributor(r, 1, step + 1, 1)), step, 0, gradient, List.of())));
      }
    }
    assertThat(acks).allSatisfy(ack -> assertThat(ack).isCompleted());
    assertThat(shard.status(job).version()).isEqualTo(ROUNDS);
  }

  private void end(String job) {
    for (int r = 0; r < TRAINERS; r++) {
      shard.leave(job, new TrainerId(r, 1));
    }
  }

  @Test
  void itKeepsWhatARoundNeedsAndNotItsPeak() {
    train("a");
    assertThat(shard.blocks().size()).isEqualTo((TRAINERS + 1) * BLOCKS);
  }

  @Test
  void whatAJobNeededGoesWithIt() {
    train("a");
    train("b");
    assertThat(shard.blocks().size()).isEqualTo(2 * (TRAINERS + 1) * BLOCKS);
    end("a");
    assertThat(shard.blocks().size()).isEqualTo((TRAINERS + 1) * BLOCKS);
    end("b");
    assertThat(shard.blocks().size()).isZero();
  }
}
