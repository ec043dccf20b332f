package io.regatta.parameterserver;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
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
import java.util.List;

/** Small jobs whose gradients are functions of rank and step, and the same job in one process. */
final class Jobs {

  static final int NUMEL = 3000;
  static final int DIM = 3;
  static final long[] IDS = new long[500];

  static {
    for (int i = 0; i < IDS.length; i++) {
      IDS[i] = i * 131L - 7000;
    }
  }

  private Jobs() {}

  static JobSpec spec(String name, Mode mode, int trainers, int shards) {
    return new JobSpec(name, mode, trainers, 2, NanPolicy.FAIL, shards, 256, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(2000)), new DenseVariable("v", List.of(10, 100))),
        OptimizerSpec.of("adam", 0.01),
        List.of(new SparseTableSpec("emb", DIM, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1)))));
  }

  static float[] ramp(int n, double scale) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = (float) (scale * Math.sin(i * 0.37 + scale));
    }
    return v;
  }

  static DenseMemory dense(int rank, long step) {
    return DenseMemory.of(ramp(NUMEL, 1 + rank + 0.1 * step));
  }

  static List<SparseRows> rows(int rank, long step) {
    return List.of(new SparseRows("emb", IDS, ramp(IDS.length * DIM, 0.5 + rank + 0.01 * step)));
  }

  /** The digest that one process gets. */
  static long reference(JobSpec like, int steps) {
    JobSpec job = new JobSpec(like.job(), like.mode(), like.trainers(), like.stalenessBound(), like.nanPolicy(), 1,
        like.minBlock(), like.model());
    ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
    List<ParameterClient> clients = new ArrayList<>();
    for (int rank = 0; rank < job.trainers(); rank++) {
      clients.add(new ParameterClient(job, new TrainerId(rank, 1), List.of(new LocalShardLink(shard)), Runnable::run));
      clients.get(rank).register().join();
    }
    clients.get(0).initialize(ramp(NUMEL, 1)).join();
    for (long step = 0; step < steps; step++) {
      for (int rank = 0; rank < job.trainers(); rank++) {
        clients.get(rank).push(step, 8 + rank, null, dense(rank, step), rows(rank, step));
      }
    }
    return shard.digest(job.job());
  }
}
