package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import io.regatta.core.shard.DigestCursor;
import io.regatta.core.shard.LocalJob;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class ParameterClientTest {

  @Test
  void oneTrainerMovesADenseVectorAndARowByPlainSgd() {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(3))), OptimizerSpec.sgd(0.5),
        List.of(new SparseTableSpec("emb", 2, InitializerSpec.zeros(), OptimizerSpec.sgd(0.25))));
    LocalJob job = new LocalJob(new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 8192, model));
    ParameterClient client = job.clients.get(0);
    client.register().join();
    client.initialize(new float[] {1, 2, 3}).join();
    var pushed = client.push(0, 8, null, DenseMemory.of(new float[] {2, 0, -2}),
        List.of(new SparseRows("emb", new long[] {7, -7}, new float[] {4, 8, 0, -4}))).join();
    assertThat(pushed).isEqualTo(new ParameterClient.Pushed(0, false));
    var values = client.pull(1, true, List.of(new SparseIds("emb", new long[] {-7, 5, 7})), false).join();
    assertThat(values.versions()).containsExactly(1);
    assertThat(values.dense()).containsExactly(0, 2, 4);
    assertThat(values.sparse().get(0).values()).containsExactly(0, 1, 0, 0, -1, -2);
    client.leave(true).join();
    assertThat(job.shards.get(0).jobs()).isEmpty();
  }

  /** A link of which nothing but pushes is asked. */
  private abstract static class Pushed implements ShardLink {
    @Override
    public String peer() {
      return "a shard";
    }

    @Override
    public CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> initialize(DenseValues dense) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Pulled> pull(Pull pull) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> leave(boolean succeeded) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Long> digest() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> export(String table, RowSink sink) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> close() {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void memoryIsTheCallersAgainWhenAPushHasFailedAtOneShardAndStaysWhatItWasForTheOther() {
    ModelSpec model = new ModelSpec(7, List.of(new DenseVariable("w", List.of(1000))), OptimizerSpec.sgd(1), List.of());
    CompletableFuture<Void> handedOver = new CompletableFuture<>();
    Push[] late = new Push[1];
    ShardLink refuses = new Pushed() {
      @Override
      public CompletionStage<PushAck> push(Push p) {
        return CompletableFuture.failedFuture(new Overloaded("full"));
      }
    };
    ShardLink isSlow = new Pushed() {
      @Override
      public CompletionStage<PushAck> push(Push p) {
        late[0] = p;
        return new CompletableFuture<>();
      }

      @Override
      public CompletionStage<Void> handedOver() {
        return handedOver;
      }
    };
    ParameterClient client = new ParameterClient(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 2, 64, model),
        new TrainerId(0, 1), List.of(refuses, isSlow), Runnable::run);
    ByteBuffer lent = ByteBuffer.allocateDirect(4000).order(ByteOrder.LITTLE_ENDIAN);
    DenseMemory memory = DenseMemory.of(lent);
    var pushed = client.push(0, 1, null, memory, List.of());
    assertThat(pushed).as("the other link may still read").isNotDone();
    handedOver.complete(null);
    assertThat(catchThrowable(pushed::join)).hasCauseInstanceOf(Overloaded.class);
    lent.putFloat(4 * 999, 666).putFloat(4 * 500, 666).putFloat(0, 666);
    assertThat(late[0].dense().toArray()).containsOnly(0);
    assertThat(memory.toArray()).as("the caller's own view").contains(666);
  }

  @Test
  void rowsComeBackInTheOrderAskedFromAnyNumberOfShards() {
    long[] ids = {9, -4, 0, 77, 5, Long.MIN_VALUE, 12};
    List<float[]> seen = new ArrayList<>();
    for (int shards : new int[] {1, 2, 5}) {
      LocalJob job = new LocalJob(Mode.ASYNC, 1, shards, OptimizerSpec.sgd(1));
      var values = job.clients.get(0).pull(0, true,
          List.of(new SparseIds(LocalJob.DEEP, ids), new SparseIds(LocalJob.WIDE, new long[] {3})), false).join();
      assertThat(values.dense()).containsExactly(LocalJob.initial());
      assertThat(values.sparse()).extracting(SparseRows::table).containsExactly(LocalJob.DEEP, LocalJob.WIDE);
      assertThat(values.sparse().get(0).ids()).containsExactly(ids);
      seen.add(values.sparse().get(0).values());
    }
    assertThat(seen.get(1)).containsExactly(seen.get(0));
    assertThat(seen.get(2)).containsExactly(seen.get(0));
    float[] row = new float[3];
    InitializerSpec.uniform(-1, 1).fill(7, LocalJob.DEEP, 77, row, 0, 3);
    assertThat(Arrays.copyOfRange(seen.get(0), 9, 12)).containsExactly(row);
  }

  @Test
  void exportAndDigestSeeEveryRowOnce() {
    LocalJob job = new LocalJob(Mode.ASYNC, 1, 3, OptimizerSpec.sgd(1));
    ParameterClient client = job.clients.get(0);
    long[] ids = new long[20_000];
    Arrays.setAll(ids, i -> i * 31L - 7);
    float[] values = client.pull(0, false, List.of(new SparseIds(LocalJob.DEEP, ids)), false).join().sparse().get(0)
        .values();
    Map<Long, Float> exported = new HashMap<>();
    client.export(LocalJob.DEEP, rows -> {
      assertThat(rows.ids().length).isBetween(1, 4096);
      for (int i = 0; i < rows.ids().length; i++) {
        assertThat(exported.put(rows.ids()[i], rows.values()[3 * i + 2])).isNull();
      }
      return CompletableFuture.completedFuture(null);
    }).join();
    assertThat(exported).hasSize(ids.length);
    assertThat(exported.get(ids[1234])).isEqualTo(values[3 * 1234 + 2]);
    assertThat(client.digest().join()).isEqualTo(job.digest());
    DigestCursor cursor = job.shards.get(0).digestCursor("job");
    int slices = 1;
    while (cursor.advance(100)) {
      slices++;
    }
    assertThat(slices).isGreaterThan(50);
    assertThat(cursor.value()).isEqualTo(job.shards.get(0).digest("job"));
  }

  @Test
  void theShardsThatOweAnAnswerAreNamedUntilTheyHaveGivenIt() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 3, OptimizerSpec.sgd(1));
    ParameterClient waiting = job.clients.get(0);
    assertThat(waiting.unanswered()).isEmpty();
    waiting.push(0, 1, null, null, List.of());
    CompletableFuture<ParameterClient.Values> pull = waiting.pull(1, true, List.of(), false);
    assertThat(waiting.unanswered()).containsEntry(0, "shard 0 in this process").containsOnlyKeys(0, 1, 2);
    job.clients.get(1).push(0, 1, null, null, List.of()).join();
    assertThat(pull).isCompleted();
    assertThat(waiting.unanswered()).isEmpty();
  }

  @Test
  void clippingByNormWorksOnWholeVariablesBeforeTheyAreCut() {
    OptimizerSpec clipped = new OptimizerSpec(new Sgd(), LearningRate.constant(1), 0, 0, 1);
    float[] g = new float[24];
    Arrays.fill(g, 0, 15, 2); // norm of fc.weight: sqrt(60)
    g[20] = 0.5f; // norm of fc.bias: 0.5, within the limit
    SparseRows rows = new SparseRows(LocalJob.WIDE, new long[] {1, 2, 3, 4}, new float[] {3, 4, 0, 0});
    for (int shards : new int[] {1, 5}) {
      LocalJob job = new LocalJob(Mode.SYNC, 1, shards, clipped);
      ParameterClient client = job.clients.get(0);
      client.push(0, 1, null, DenseMemory.of(g), List.of(rows)).join();
      var values = client.pull(1, true, List.of(new SparseIds(LocalJob.WIDE, new long[] {1, 2})), false).join();
      assertThat(values.dense()[7]).isCloseTo((float) (LocalJob.initial()[7] - 2 / Math.sqrt(60)), within(1e-6f));
      assertThat(values.dense()[20]).isEqualTo(LocalJob.initial()[20] - 0.5f);
      assertThat(values.sparse().get(0).values()).containsExactly(-3 * 0.2f, -4 * 0.2f);
    }
    assertThat(g[0]).as("the caller's array is left alone").isEqualTo(2);
    assertThat(rows.values()).containsExactly(3, 4, 0, 0);
  }

  @Test
  void aNanFailsTheWholePushBeforeAnyShardHearsOfIt() {
    LocalJob job = new LocalJob(Mode.SYNC, 1, 2, OptimizerSpec.sgd(1));
    float[] g = new float[24];
    g[16] = Float.NaN;
    assertThat(catchThrowable(() -> job.clients.get(0).push(0, 1, null, DenseMemory.of(g), List.of()).join()))
        .hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("push of step 0 of trainer 0 of job job", "'fc.bias' is NaN at element 1");
    job.clients.get(0).push(0, 1, null, DenseMemory.of(new float[24]), List.of()).join();
  }

  @Test
  void aSkippedPushTicksEveryShardAndDoesNotWeighInTheMean() {
    JobSpec spec = LocalJob.spec(Mode.SYNC, 2, 2, OptimizerSpec.sgd(1), 0, NanPolicy.SKIP);
    LocalJob job = new LocalJob(spec);
    job.start();
    float[] one = new float[24];
    Arrays.fill(one, 1);
    float[] bad = new float[24];
    bad[0] = Float.POSITIVE_INFINITY;
    job.clients.get(0).push(0, 4, null, DenseMemory.of(one), List.of());
    assertThat(job.clients.get(1).push(0, 4, null, DenseMemory.of(bad), List.of()).join().skippedPush()).isTrue();
    float[] w = job.clients.get(0).pull(1, true, List.of(), false).join().dense();
    for (int i = 0; i < w.length; i++) {
      assertThat(w[i]).isEqualTo(LocalJob.initial()[i] - 1);
    }
  }

  @Test
  void mistakesAreFoundBeforeAnythingIsSent() {
    LocalJob job = new LocalJob(Mode.SYNC, 1, 2, OptimizerSpec.sgd(1));
    ParameterClient client = job.clients.get(0);
    assertThat(catchThrowable(() -> client.push(0, 1, null, DenseMemory.of(new float[23]), List.of()).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("has 23 dense elements; the model has 24");
    assertThat(catchThrowable(() -> client.push(0, 1, null, null,
        List.of(new SparseRows("nope", new long[1], new float[1]))).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("'nope'");
    assertThat(catchThrowable(() -> client.pull(0, true, List.of(new SparseIds("nope", new long[1])), false).join()))
        .hasCauseInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> new ParameterClient(job.spec, new TrainerId(0, 1), List.of(), Runnable::run))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("2 shards").hasMessageContaining("0 links");
  }

  @Test
  void refusesInitialValuesOfAnotherNumber_beforeAnythingIsSent() {
    LocalJob job = new LocalJob(LocalJob.spec(Mode.SYNC, 1, 2, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
    ParameterClient client = job.clients.get(0);
    client.register().join();
    assertThat(catchThrowable(() -> client.initialize(new float[25]).join())).hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("initial value", "25", "24");
    client.initialize(LocalJob.initial()).join();
    assertThat(client.job()).isSameAs(job.spec);
    assertThat(client.partition().sizeOf(0) + client.partition().sizeOf(1)).isEqualTo(24);
  }

  @Test
  void asksAgainOnlyTheShardsThatWouldWaitForItEarlier() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 2, OptimizerSpec.sgd(1));
    ParameterClient client = job.clients.get(0);
    job.nowMillis = 2_000;
    client.takePartFrom(0).join();
    assertThat(lastSeen(job, 0)).as("what it has said already").isEqualTo(1_000);
    client.takePartFrom(3).join();
    assertThat(lastSeen(job, 0)).isEqualTo(2_000);
  }

  private static long lastSeen(LocalJob job, int rank) {
    return job.shards.get(0).status("job").trainers().get(rank).lastSeenMillis();
  }

  @Test
  void closesItsLinksWithoutLeaving() {
    LocalJob job = new LocalJob(Mode.ASYNC, 1, 2, OptimizerSpec.sgd(1));
    ParameterClient client = job.clients.get(0);
    assertThat(client.close()).isCompletedWithValue(null);
    assertThat(catchThrowable(() -> client.pull(0, true, List.of(), false).join())).isNotNull();
    assertThat(job.shards.get(0).status("job").trainers()).extracting(t -> t.state()).containsExactly("active");
  }

  @Test
  void pullsIntoTheCallersArray() {
    LocalJob job = new LocalJob(Mode.ASYNC, 1, 2, OptimizerSpec.sgd(1));
    float[] mine = new float[24];
    assertThat(job.clients.get(0).pull(0, DenseMemory.of(mine), List.of(), false).join().dense()).isSameAs(mine);
    assertThat(mine).containsExactly(LocalJob.initial());
  }

  /** A link that fails all that is read. */
  private static ShardLink failing(RuntimeException why) {
    return new Pushed() {
      @Override
      public CompletionStage<PushAck> push(Push p) {
        return CompletableFuture.failedFuture(why);
      }

      @Override
      public CompletionStage<Pulled> pull(Pull pull) {
        return CompletableFuture.failedFuture(why);
      }

      @Override
      public CompletionStage<Void> export(String table, RowSink sink) {
        return CompletableFuture.failedFuture(why);
      }
    };
  }

  private static ParameterClient withoutShard1(LocalJob job, RuntimeException why) {
    return new ParameterClient(job.spec, new TrainerId(0, 1), List.of(registered(job), failing(why)), Runnable::run);
  }

  private static LocalShardLink registered(LocalJob job) {
    LocalShardLink link = new LocalShardLink(job.shards.get(0));
    link.register(job.spec, new TrainerId(0, 1), 0);
    return link;
  }

  @Test
  void readsWhatIsLeft_ifAShardIsLost() {
    LocalJob job = new LocalJob(Mode.ASYNC, 1, 2, OptimizerSpec.sgd(1));
    long[] ids = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    job.clients.get(0).pull(0, false, List.of(new SparseIds(LocalJob.WIDE, ids)), false).join();
    ParameterClient client = withoutShard1(job, new PeerLost("it has gone"));
    float[] dense = new float[24];
    Arrays.fill(dense, 42);
    assertThat(client.readRemaining(dense).join()).containsExactly(1);
    for (var part : client.partition().parts()) {
      for (int i = part.flatOffset(); i < part.flatOffset() + part.size(); i++) {
        assertThat(dense[i]).isEqualTo(part.shard() == 0 ? LocalJob.initial()[i] : 42);
      }
    }
    List<Long> exported = new ArrayList<>();
    client.export(LocalJob.WIDE, Set.of(1), rows -> {
      Arrays.stream(rows.ids()).forEach(exported::add);
      return CompletableFuture.completedFuture(null);
    }).join();
    assertThat(exported).containsExactlyInAnyOrderElementsOf(
        Arrays.stream(ids).filter(id -> SparsePartition.shardOf(id, 2) == 0).boxed().toList());
  }

  @Test
  void readsNothing_ifAShardFailsOtherwiseThanByItsLoss() {
    LocalJob job = new LocalJob(Mode.ASYNC, 1, 2, OptimizerSpec.sgd(1));
    ParameterClient client = withoutShard1(job, new Overloaded("full"));
    assertThat(catchThrowable(() -> client.readRemaining(new float[24]).join())).hasCauseInstanceOf(Overloaded.class);
  }

  @Test
  void aClosedOwnerCancels() {
    LocalJob job = new LocalJob(Mode.SYNC, 1, 1, OptimizerSpec.sgd(1));
    ParameterClient client = new ParameterClient(job.spec, new TrainerId(0, 1),
        List.of(new LocalShardLink(job.shards.get(0))), task -> {
          throw new RejectedExecutionException();
        });
    assertThat(catchThrowable(() -> client.register().join())).hasCauseInstanceOf(Cancelled.class);
  }

  @Test
  void theFirstFailingShardFailsTheWholeWithoutWaitingForTheOthers() {
    LocalJob job = new LocalJob(Mode.SYNC, 2, 2, OptimizerSpec.sgd(1));
    job.shards.get(1).lost("job", new TrainerId(0, 1));
    var push = job.clients.get(0).push(0, 1, null, null, List.of());
    assertThat(push).isCompletedExceptionally();
  }

  /** A client of one shard, which answers each pull with this. */
  private static CompletableFuture<ParameterClient.Values> pulledFrom(Pulled answer, boolean dense,
      List<SparseIds> sparse) {
    ShardLink link = new Pushed() {
      @Override
      public CompletionStage<PushAck> push(Push push) {
        throw new UnsupportedOperationException();
      }

      @Override
      public CompletionStage<Pulled> pull(Pull pull) {
        return CompletableFuture.completedFuture(answer);
      }
    };
    JobSpec spec = LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL);
    return new ParameterClient(spec, new TrainerId(0, 1), List.of(link), Runnable::run).pull(0, dense, sparse, false);
  }

  @Test
  void namesTheShard_whenItsAnswerIsOfAnotherSize() {
    DenseMemory whole = DenseMemory.of(new float[24]);
    DenseMemory part = DenseMemory.of(new float[23]);
    List<SparseIds> wish = List.of(new SparseIds(LocalJob.DEEP, new long[] {1, 2}));
    List<SparseRows> rows = List.of(new SparseRows(LocalJob.DEEP, new long[] {1, 2}, new float[6]));
    List<SparseRows> lessRows = List.of(new SparseRows(LocalJob.DEEP, new long[] {1}, new float[3]));
    assertThat(pulledFrom(new Pulled(3, whole, rows, 5), true, wish).join().clockLead()).isEqualTo(5);
    assertThat(catchThrowable(() -> pulledFrom(new Pulled(3, part, rows, 0), true, wish).join()))
        .hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("shard 0 of job job", "23 dense elements instead of 24");
    assertThat(catchThrowable(() -> pulledFrom(new Pulled(3, null, rows, 0), true, wish).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("0 dense elements instead of 24");
    assertThat(catchThrowable(() -> pulledFrom(new Pulled(3, null, lessRows, 0), false, wish).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("3 values of table 'deep' instead of 6");
  }

  @Test
  void refusesMemoryOfAnotherSizeForAPull() {
    ParameterClient client = new LocalJob(Mode.ASYNC, 1, 2, OptimizerSpec.sgd(1)).clients.get(0);
    assertThat(catchThrowable(() -> client.pull(0, DenseMemory.of(new float[23]), List.of(), false).join()))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("memory for a pull has 23 dense elements");
    assertThat(catchThrowable(() -> client.initialize(new float[25]).join())).hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContaining("initial value has 25 dense elements");
  }

  @Test
  void unitesTheChangedRowsOfAllShards() {
    LocalJob job = new LocalJob(Mode.GEO, 2, 3, OptimizerSpec.sgd(1));
    long[] ids = new long[50];
    Arrays.setAll(ids, i -> i * 31L - 7);
    float[] deltas = new float[150];
    for (int i = 0; i < deltas.length; i++) {
      deltas[i] = i;
    }
    List<SparseRows> sparse = List.of(new SparseRows(LocalJob.DEEP, ids, deltas),
        new SparseRows(LocalJob.WIDE, new long[] {5}, new float[] {9}));
    List<SparseIds> wish = List.of(new SparseIds(LocalJob.DEEP, ids), new SparseIds(LocalJob.WIDE, new long[] {5}));
    job.clients.forEach(c -> c.pull(0, false, wish, true).join());
    job.clients.get(0).push(0, 1, null, null, sparse).join();
    List<SparseRows> changed = job.clients.get(1).pull(0, false, List.of(), true).join().sparse();
    List<SparseRows> served = job.clients.get(1).read(false, wish).join().sparse();
    assertThat(changed).extracting(SparseRows::table).containsExactly(LocalJob.WIDE, LocalJob.DEEP);
    assertThat(changed.get(0).values()).containsExactly(served.get(1).values());
    Map<Long, float[]> byId = new HashMap<>();
    for (int i = 0; i < 50; i++) {
      byId.put(changed.get(1).ids()[i], Arrays.copyOfRange(changed.get(1).values(), 3 * i, 3 * i + 3));
    }
    for (int i = 0; i < 50; i++) {
      assertThat(byId.get(ids[i])).containsExactly(Arrays.copyOfRange(served.get(0).values(), 3 * i, 3 * i + 3));
    }
  }
}
