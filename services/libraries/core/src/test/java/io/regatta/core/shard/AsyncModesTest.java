package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.Wait;
import io.regatta.core.optim.OptimizerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class AsyncModesTest {

  @Property(tries = 40)
  void pushesAreAppliedAsTheyComeAndShardsNumberThemAlike(@ForAll @IntRange(min = 1, max = 4) int trainers,
      @ForAll long seed, @ForAll boolean halfAsync) {
    OptimizerSpec adam = OptimizerSpec.of("adam", 0.01);
    for (int shards : new int[] {1, 2, 5}) {
      LocalJob job = new LocalJob(halfAsync ? Mode.HALF_ASYNC : Mode.ASYNC, trainers, shards, adam);
      NaiveServer naive = new NaiveServer(job.spec.model());
      Random order = new Random(seed);
      long[] next = new long[trainers];
      for (int i = 0; i < 20; i++) {
        int rank = order.nextInt(trainers);
        LocalJob.Gradient g = LocalJob.gradient(seed, rank, next[rank]);
        job.clients.get(rank).push(next[rank], g.weight(), null, DenseMemory.of(g.dense()), g.sparse()).join();
        naive.update(next[rank]++, g.dense(), g.sparse());
      }
      assertThat(job.digest()).as("%d shards", shards).isEqualTo(naive.digest());
    }
  }

  @Test
  void stalenessCountsTheUpdatesOfOthersBetweenPullAndPush() {
    LocalJob job = new LocalJob(Mode.ASYNC, 3, 2, OptimizerSpec.sgd(0.1));
    ParameterClient a = job.clients.get(0);
    ParameterClient b = job.clients.get(1);
    long[] seen = a.pull(0, true, List.of(), false).join().versions();
    b.push(0, 1, null, null, List.of()).join();
    b.push(1, 1, null, null, List.of()).join();
    assertThat(a.push(0, 1, seen, null, List.of()).join().staleness()).isEqualTo(2);
    b.push(2, 1, null, null, List.of()).join();
    assertThat(a.push(1, 1, seen, null, List.of()).join().staleness()).as("own updates do not count").isEqualTo(3);
    seen = a.pull(2, true, List.of(), false).join().versions();
    assertThat(a.push(2, 1, seen, null, List.of()).join().staleness()).isZero();
    ParameterShard.JobStatus status = job.shards.get(0).status("job");
    assertThat(status.stalenessMax()).isEqualTo(3);
    assertThat(status.pushes()).isEqualTo(6);
    assertThat(status.version()).isEqualTo(6);
  }

  @Property(tries = 60)
  void nobodyRunsMoreThanTheBoundAheadOfTheSlowest(@ForAll @IntRange(min = 1, max = 4) int trainers,
      @ForAll @IntRange(min = 0, max = 4) int bound, @ForAll @IntRange(min = 1, max = 3) int shards,
      @ForAll long seed) {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SSP, trainers, shards, OptimizerSpec.sgd(0.1), bound,
        NanPolicy.FAIL));
    job.start();
    int steps = 15;
    int[] step = new int[trainers];
    List<java.util.concurrent.CompletableFuture<?>> pulls = new ArrayList<>();
    for (int rank = 0; rank < trainers; rank++) {
      pulls.add(null);
    }
    Random random = new Random(seed);
    for (int done = 0, turns = 0; done < trainers; turns++) {
      assertThat(turns).as("turns without an end").isLessThan(100_000);
      int rank = random.nextInt(trainers) * random.nextInt(2); // rank 0 is the fastest
      if (step[rank] > steps) {
        continue;
      }
      ParameterClient client = job.clients.get(rank);
      if (pulls.get(rank) == null) {
        pulls.set(rank, client.pull(step[rank], true, List.of(), false));
      } else if (pulls.get(rank).isDone()) {
        int slowest = Integer.MAX_VALUE;
        for (int s : step) {
          slowest = Math.min(slowest, s);
        }
        assertThat(step[rank] - slowest).as("lead").isLessThanOrEqualTo(bound);
        if (step[rank] == steps) {
          client.leave(true).join();
          step[rank] = Integer.MAX_VALUE;
          done++;
        } else {
          client.push(step[rank]++, 1, null, null, List.of()).join();
          pulls.set(rank, null);
        }
      }
      if (done < trainers) {
        assertThat(job.shards.get(0).status("job").clockLeadMax()).isLessThanOrEqualTo(bound);
      }
    }
    assertThat(job.shards).allMatch(s -> s.jobs().isEmpty());
  }

  @Test
  void aFastTrainerReachesTheBoundAndThenWaits() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SSP, 2, 1, OptimizerSpec.sgd(0.1), 2, NanPolicy.FAIL));
    job.start();
    ParameterClient fast = job.clients.get(0);
    for (int step = 0; step < 3; step++) {
      assertThat(fast.pull(step, true, List.of(), false)).isCompleted();
      fast.push(step, 1, null, null, List.of()).join();
    }
    var waiting = fast.pull(3, true, List.of(), false);
    assertThat(waiting).isNotDone();
    assertThat(job.shards.get(0).status("job").clockLeadMax()).isEqualTo(2);
    Wait wait = job.shards.get(0).waits().get(0);
    assertThat(wait.operation()).isEqualTo("pull of step 3");
    assertThat(wait.waitsFor()).extracting(Wait.Peer::name).containsExactly("trainer 1");
    job.clients.get(1).push(0, 1, null, null, List.of()).join();
    assertThat(waiting).isCompleted();
  }

  @Property(tries = 40)
  void geoAddsDeltasUpWhateverTheirOrder(@ForAll @IntRange(min = 1, max = 4) int trainers,
      @ForAll @IntRange(min = 1, max = 5) int shards, @ForAll long seed) {
    LocalJob job = new LocalJob(Mode.GEO, trainers, shards, OptimizerSpec.sgd(99));
    NaiveServer naive = new NaiveServer(job.spec.model());
    for (int step = 0; step < 4; step++) {
      for (int rank = 0; rank < trainers; rank++) {
        LocalJob.Gradient g = LocalJob.gradient(seed, rank, step);
        job.clients.get(rank).push(step, g.weight(), null, DenseMemory.of(g.dense()), g.sparse()).join();
        for (int i = 0; g.dense() != null && i < g.dense().length; i++) {
          naive.dense[i] += g.dense()[i];
        }
        for (SparseRows r : g.sparse()) {
          for (int i = 0; i < r.ids().length; i++) {
            float[] row = naive.row(naive.table(r.table()), r.ids()[i])[0];
            for (int k = 0; k < row.length; k++) {
              row[k] += r.values()[i * row.length + k];
            }
          }
        }
      }
    }
    assertThat(job.digest()).isEqualTo(naive.digest());
  }

  @Test
  void geoHandsOutEachChangedRowOncePerTrainerItsOwnIncluded() {
    LocalJob job = new LocalJob(Mode.GEO, 2, 3, OptimizerSpec.sgd(1));
    long[] ids = {1, 2, 3, 4, 5, 6, 7, 8};
    job.clients.get(0).push(0, 1, null, null, List.of(new SparseRows(LocalJob.WIDE, ids, new float[8]))).join();
    job.clients.get(1).push(0, 1, null, null,
        List.of(new SparseRows(LocalJob.WIDE, new long[] {8, 9}, new float[] {0.5f, 0.25f}))).join();
    for (ParameterClient client : job.clients) {
      List<SparseRows> changed = client.pull(1, false, List.of(), true).join().sparse();
      assertThat(changed).hasSize(1);
      assertThat(changed.get(0).table()).isEqualTo(LocalJob.WIDE);
      assertThat(changed.get(0).ids()).containsExactlyInAnyOrder(1, 2, 3, 4, 5, 6, 7, 8, 9);
      for (int i = 0; i < 9; i++) {
        long id = changed.get(0).ids()[i];
        assertThat(changed.get(0).values()[i]).isEqualTo(id == 8 ? 0.5f : id == 9 ? 0.25f : 0);
      }
      assertThat(client.pull(1, false, List.of(), true).join().sparse()).isEmpty();
    }
  }
}
