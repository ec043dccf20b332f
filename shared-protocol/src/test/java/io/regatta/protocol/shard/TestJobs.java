package io.regatta.protocol.shard;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;

/** A small job for one shard: a dense vector and one table, {@code emb}. */
final class TestJobs {
  static final int DIM = 3;

  private TestJobs() {}

  static JobSpec job(String name, Mode mode, int trainers, int dense) {
    return new JobSpec(name, mode, trainers, 0, NanPolicy.FAIL, 1, 8192,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(dense))), OptimizerSpec.sgd(0.5),
            List.of(new SparseTableSpec("emb", DIM, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1)))));
  }

  static float[] ramp(int n, float scale) {
    float[] f = new float[n];
    for (int i = 0; i < n; i++) {
      f[i] = scale * (i % 17 - 8);
    }
    return f;
  }

  static long[] ids(int n) {
    long[] ids = new long[n];
    for (int i = 0; i < n; i++) {
      ids[i] = i * 31L;
    }
    return ids;
  }
}
