package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.client.GeoState;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A gradient of norm 5, limited to norm 1, with learning rate 10: it moves its variable by 10 times a fifth of it. Not
 * clipped, it moves by 50; geo's delta, clipped once more, by 1; clipped by shard instead of whole, by more than 10.
 */
class ClippingTest {

  @ParameterizedTest
  @EnumSource(value = Mode.class, mode = EnumSource.Mode.EXCLUDE, names = "COLLECTIVE")
  void aGradientIsClippedByNormExactlyOnce(Mode mode) {
    OptimizerSpec clipped = new OptimizerSpec(new Sgd(), LearningRate.constant(10), 0, 0, 1);
    LocalJob job = new LocalJob(mode, 1, 3, clipped);
    ParameterClient client = job.clients.get(0);
    float[] gradient = new float[24];
    gradient[0] = 3;
    gradient[14] = -4; // of fc.weight, which lies on several shards
    gradient[20] = 0.5f; // fc.bias is within the limit
    List<SparseIds> ids = List.of(new SparseIds(LocalJob.WIDE, new long[] {1, 2, 3, 4}));
    List<SparseRows> rows = List.of(new SparseRows(LocalJob.WIDE, ids.get(0).ids(), new float[] {3, 0, 0, 4}));
    if (mode == Mode.GEO) {
      GeoState geo = new GeoState(job.spec, 0, 1);
      geo.renew(client.pull(0, true, List.of(), false).join());
      geo.admit(client.pull(0, false, ids, false).join().sparse().get(0));
      geo.step(gradient, rows);
      GeoState.Delta delta = geo.takeDelta();
      client.push(delta.step(), 1, delta.versions(), DenseMemory.of(delta.dense()), delta.sparse()).join();
    } else {
      client.push(0, 8, null, DenseMemory.of(gradient), rows).join();
    }
    var values = client.read(true, ids).join();
    float[] moved = new float[24];
    for (int i = 0; i < moved.length; i++) {
      moved[i] = LocalJob.initial()[i] - values.dense()[i];
    }
    float[] expected = new float[24];
    expected[0] = 6;
    expected[14] = -8;
    expected[20] = 5;
    assertThat(moved).containsExactly(expected, within(1e-5f));
    assertThat(values.sparse().get(0).values()).containsExactly(new float[] {-6, 0, 0, -8}, within(1e-5f));
  }
}
