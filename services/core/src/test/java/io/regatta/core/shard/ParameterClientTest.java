package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParameterClientTest {

  @Test
  void oneTrainerMovesADenseVectorAndARowByPlainSgd() {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(3))), OptimizerSpec.sgd(0.5),
        List.of(new SparseTableSpec("emb", 2, InitializerSpec.zeros(), OptimizerSpec.sgd(0.25))));
    JobSpec job = new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 8192, model);
    ParameterShard shard = new ParameterShard(0, ParameterShard.Limits.defaults(), () -> 0);
    ParameterClient client = new ParameterClient(job, new TrainerId(0, 1), List.of(new LocalShardLink(shard)),
        Runnable::run);
    client.register().join();
    client.initialize(new float[] {1, 2, 3}).join();
    var pushed = client.push(0, 8, null, new float[] {2, 0, -2},
        List.of(new SparseRows("emb", new long[] {7, -7}, new float[] {4, 8, 0, -4}))).join();
    assertThat(pushed).isEqualTo(new ParameterClient.Pushed(0, false));
    var values = client.pull(1, true, List.of(new SparseIds("emb", new long[] {-7, 5, 7})), false).join();
    assertThat(values.versions()).containsExactly(1);
    assertThat(values.dense()).containsExactly(0, 2, 4);
    assertThat(values.sparse().get(0).values()).containsExactly(0, 1, 0, 0, -1, -2);
    client.leave().join();
    assertThat(shard.jobs()).isEmpty();
  }
}
