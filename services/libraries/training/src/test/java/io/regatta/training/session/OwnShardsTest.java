package io.regatta.training.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.session.TrainerSession.SaveOrder;
import io.regatta.training.trace.StepTrace;
import java.nio.BufferOverflowException;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The one shard of a rank, which is copied to others. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OwnShardsTest {

  private static final float[] VALUES = {1, -2, 3};

  private final OwnShards own = new OwnShards(1, StepTrace.off());
  private final ParameterClient client = own.connect(new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 64,
      new ModelSpec(7, List.of(new DenseVariable("w", List.of(3))), OptimizerSpec.sgd(1), List.of()))).join();

  @Test
  void copiesItsValues() {
    client.initialize(VALUES).join();
    FloatBuffer to = FloatBuffer.allocate(3);
    own.copy(to);
    assertThat(to.array()).containsExactly(VALUES);
    assertThat(own.progress().step()).isZero();
  }

  @Test
  void copiesAgain_whenACopyHasFailed() {
    client.initialize(VALUES).join();
    assertThatThrownBy(() -> own.copy(FloatBuffer.allocate(1))).hasCauseInstanceOf(BufferOverflowException.class);
    FloatBuffer to = FloatBuffer.allocate(3);
    own.copy(to);
    assertThat(to.array()).containsExactly(VALUES);
  }

  @Test
  void refusesToCopyOrSave_untilThereAreValues(@TempDir Path dir) {
    assertThatThrownBy(() -> own.copy(FloatBuffer.allocate(3))).hasCauseInstanceOf(Conflict.class)
        .hasMessageContaining("job job has no values in this process yet");
    assertThatThrownBy(own::progress).hasCauseInstanceOf(Conflict.class);
    CompletableFuture<?> saving = own.save(new SaveOrder(dir, 0, SnapshotKind.FULL));
    assertThat(saving).isCompletedExceptionally();

    client.initialize(VALUES).join();
    FloatBuffer to = FloatBuffer.allocate(3);
    own.copy(to);
    assertThat(to.array()).containsExactly(VALUES);
  }
}
