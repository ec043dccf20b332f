package io.regatta.training.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.training.trace.StepTrace;
import java.nio.BufferOverflowException;
import java.nio.FloatBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The one shard of a rank, which is copied to others. */
class OwnShardsTest {

  @Test
  void copiesAgain_whenACopyHasFailed() {
    OwnShards own = new OwnShards(1, StepTrace.off());
    own.connect(new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(3))), OptimizerSpec.sgd(1), List.of()))).join();
    assertThatThrownBy(() -> own.copy(FloatBuffer.allocate(1))).hasCauseInstanceOf(BufferOverflowException.class);
    FloatBuffer to = FloatBuffer.allocate(3);
    own.copy(to);
    assertThat(to.remaining()).isZero();
    assertThat(own.progress().step()).isZero();
  }
}
