package io.regatta.core.shard;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
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
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Some shards and the clients of some trainers in one thread, on a small model that every number of shards cuts. */
public final class LocalJob {

  public static final String WIDE = "wide";
  public static final String DEEP = "deep";
  public static final int IDS = 40;

  public final JobSpec spec;
  public final List<ParameterShard> shards = new ArrayList<>();
  public final List<ParameterClient> clients = new ArrayList<>();
  public long nowMillis = 1_000;

  public LocalJob(Mode mode, int trainers, int shardCount, OptimizerSpec optimizer) {
    this(spec(mode, trainers, shardCount, optimizer, 0, NanPolicy.FAIL));
    start();
  }

  public LocalJob(JobSpec spec) {
    this.spec = spec;
    for (int s = 0; s < spec.shards(); s++) {
      shards.add(new ParameterShard(s, ShardLimits.defaults(), TestClock.of(() -> nowMillis)));
    }
    for (int rank = 0; rank < spec.trainers(); rank++) {
      clients.add(client(rank, 1));
    }
  }

  public static JobSpec spec(Mode mode, int trainers, int shards, OptimizerSpec optimizer, int bound, NanPolicy nan) {
    return new JobSpec("job", mode, trainers, bound, nan, shards, 4, model(optimizer));
  }

  public static ModelSpec model(OptimizerSpec optimizer) {
    return new ModelSpec(7,
        List.of(new DenseVariable("fc.weight", List.of(5, 3)), new DenseVariable("fc.bias", List.of(9))), optimizer,
        List.of(new SparseTableSpec(WIDE, 1, InitializerSpec.zeros(), optimizer),
            new SparseTableSpec(DEEP, 3, InitializerSpec.uniform(-1, 1), optimizer)));
  }

  /** Registers everybody and initialises. */
  public void start() {
    clients.forEach(c -> c.register().join());
    clients.get(0).initialize(initial()).join();
  }

  public ParameterClient client(int rank, long incarnation) {
    List<LocalShardLink> links = shards.stream().map(LocalShardLink::new).toList();
    return new ParameterClient(spec, new TrainerId(rank, incarnation), links, Runnable::run);
  }

  public static float[] initial() {
    float[] w = new float[24];
    for (int i = 0; i < w.length; i++) {
      w[i] = (float) Math.sin(i);
    }
    return w;
  }

  public long digest() {
    return shards.stream().mapToLong(s -> s.digest(spec.job())).sum();
  }

  /** A gradient that depends on nothing but (seed, rank, step); some steps have no dense part, some no rows. */
  public static Gradient gradient(long seed, int rank, long step) {
    Random random = new Random(seed * 1_000_003 + rank * 1009L + step);
    float[] dense = random.nextInt(8) == 0 ? null : floats(random, 24);
    List<SparseRows> sparse = new ArrayList<>();
    for (String table : List.of(WIDE, DEEP)) {
      if (random.nextInt(8) > 0) {
        long[] ids = ids(random);
        sparse.add(new SparseRows(table, ids, floats(random, ids.length * (table.equals(WIDE) ? 1 : 3))));
      }
    }
    return new Gradient(1 + random.nextInt(8), dense, sparse);
  }

  public record Gradient(double weight, float[] dense, List<SparseRows> sparse) {}

  private static long[] ids(Random random) {
    TreeSet<Long> ids = new TreeSet<>();
    int n = random.nextInt(12);
    for (int i = 0; i < n; i++) {
      ids.add((random.nextInt(IDS) - IDS / 2) * 0x1234_5678_9L);
    }
    return ids.stream().mapToLong(Long::longValue).toArray();
  }

  private static float[] floats(Random random, int n) {
    float[] v = new float[n];
    for (int i = 0; i < n; i++) {
      v[i] = (float) random.nextGaussian();
    }
    return v;
  }
}
