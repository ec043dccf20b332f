package io.regatta.fleet.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Pushed;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.loop.Loop;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.CutTensors;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.trainer.heter.HeterShardLink;
import io.regatta.trainer.heter.HeterWorkers;
import io.regatta.trainer.heter.SendingRank;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/**
 * Dense parameters that heter workers pull and push, in virtual time over a simulated network; the oracle is the same
 * training with the gradients at the trainers.
 */
class SimulatedHeterDenseTest {
  private static final int PORT = 1;
  private static final int STEPS = 8;
  private static final int NUMEL = 40;
  private static final double WEIGHT = 30;
  private static final String JOB = "dense";

  private static JobSpec job(Mode mode, int trainers, int shards) {
    return new JobSpec(JOB, mode, trainers, 0, NanPolicy.FAIL, shards, 4, new ModelSpec(7,
        List.of(new DenseVariable("a", List.of(NUMEL))), OptimizerSpec.sgd(0.5), List.of()));
  }

  /** One trainer; without heter workers if there are none. */
  private static final class Rank {
    final int number;
    final JobSpec job;
    final Loop loop;
    final TensorStreams streams;
    final SimulatedCluster cluster;
    final HeterWorkers remote;
    final DenseMemory memory = DenseMemory.of(new float[NUMEL]);
    ParameterClient client;
    long made;

    Rank(SimulatedCluster cluster, JobSpec job, int number, List<Directory.Instance> directory) {
      this.cluster = cluster;
      this.job = job;
      this.number = number;
      loop = cluster.time.loop("trainer " + number);
      streams = cluster.network.of(loop).streams();
      remote = directory.isEmpty() ? null : new HeterWorkers(loop, streams, cluster.options,
          () -> Future.succeededFuture(List.copyOf(directory)), Duration.ofSeconds(20), true,
          new SendingRank(JOB, () -> id(), () -> 1, () -> made - 1));
      if (remote != null) {
        loop.execute(() -> remote.start(List.copyOf(directory)));
      }
    }

    TrainerId id() {
      return new TrainerId(number, 1);
    }

    CompletableFuture<Void> run() {
      CompletableFuture<Void> registered = new CompletableFuture<>();
      loop.execute(() -> (remote == null ? Future.<Directory.Instance>succeededFuture() : remote.home()).compose(home ->
          Future.all(IntStream.range(0, job.shards()).mapToObj(shard -> link(shard, home)).toList()))
          .onComplete(opened -> {
            client = new ParameterClient(job, id(), new ArrayList<>(opened.result().<ShardLink>list()), loop);
            registered.complete(null);
          }));
      return registered.thenCompose(v -> client.register())
          .thenCompose(v -> client.initialize(new float[NUMEL]))
          .thenCompose(v -> remote == null ? CompletableFuture.completedFuture(null)
              : remote.open(CutOpen.newBuilder().setSignature(SimulatedDenseWorker.PART).build()).toCompletableFuture())
          .thenCompose(v -> client.pull(0, memory, List.of(), false)).thenCompose(this::step);
    }

    private CompletableFuture<Void> step(Values values) {
      if (made == STEPS) {
        return CompletableFuture.completedFuture(null);
      }
      long step = made;
      CompletableFuture<DenseMemory> gradient;
      if (remote == null) {
        gradient = CompletableFuture.completedFuture(DenseMemory.of(SimulatedDenseWorker.gradient(number, step,
            memory.toArray())));
      } else {
        BatchToCompute batch = CutTensors.batch(id(), step + 1, 3);
        BatchToCompute of = new BatchToCompute(batch.id(), batch.head().toBuilder().setStep(step).build(),
            batch.tensors());
        gradient = remote.compute(of).toCompletableFuture().thenApply(result -> null);
      }
      return gradient.thenCompose(dense -> {
        TrainerProgress after = new TrainerProgress(step + 1, step + 1, step + 1,
            List.of(new TrainerProgress.Replica(step + 1,
            List.of())));
        CompletableFuture<Pushed> pushed = client.push(step, WEIGHT, values.versions(), dense, List.of(), after);
        made++;
        return pushed.thenCombine(client.pull(made, memory, List.of(), false), (p, next) -> next);
      }).thenCompose(this::step);
    }

    private Future<ShardLink> link(int shard, Directory.Instance home) {
      Future<ShardLink> direct = ReopeningShardLink.open(loop, () -> open("shard-" + shard,
          StreamPaths.PARAMETER_SHARD, shard),
          cluster.options.maxRequests()).map(link -> link);
      if (home == null) {
        return direct;
      }
      return Future.all(direct, through(home, shard)).map(both ->
          new HeterShardLink(shard, direct.result(), (ShardLink) both.resultAt(1), home, to -> through(to, shard),
              remote, false));
    }

    private Future<ShardLink> through(Directory.Instance to, int shard) {
      return open(to.host(), StreamPaths.HETER_EXCHANGE, shard).map(link -> link);
    }

    private Future<GrpcShardLink> open(String host, String path, int shard) {
      return streams.open(host, PORT, path).map(stream -> new GrpcShardLink(stream, host + " for shard " + shard,
          shard, 0, () -> 1,
          unused -> Future.failedFuture("not asked for here"), cluster.options));
    }
  }

  private static float[] trained(SimulatedCluster cluster, List<Rank> ranks, CompletableFuture<Void> run) {
    cluster.runUntil(run::isDone);
    run.join();
    CompletableFuture<Values> read = ranks.get(0).client.read(true, List.of());
    cluster.runUntil(read::isDone);
    return read.join().dense();
  }

  /** Runs all; fails with the first that fails, for which the others would wait. */
  private static CompletableFuture<Void> runs(List<Rank> ranks) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    CompletableFuture.allOf(ranks.stream().map(Rank::run).map(run -> run.whenComplete((v, error) -> {
      if (error != null) {
        over.completeExceptionally(error instanceof CompletionException ? error.getCause() : error);
      }
    })).toArray(CompletableFuture[]::new)).thenRun(() -> over.complete(null));
    return over;
  }

  private static float[] reference(long seed, JobSpec job) {
    SimulatedCluster cluster = new SimulatedCluster(seed, job.shards());
    List<Rank> ranks = IntStream.range(0, job.trainers()).mapToObj(rank -> new Rank(cluster, job, rank, List.of()))
        .toList();
    return trained(cluster, ranks, runs(ranks));
  }

  /** One of two heter workers is killed at any time; with one shard the result is always the same. */
  @Property(tries = 150)
  void a_heter_worker_that_is_killed_changes_nothing(@ForAll @LongRange(min = 0) long seed,
      @ForAll @IntRange(min = 1, max = 3) int trainers, @ForAll @IntRange(min = 1, max = 2) int shards,
      @ForAll @IntRange(max = 200) int afterMillis) {
    JobSpec job = job(Mode.SYNC, trainers, shards);
    SimulatedCluster cluster = new SimulatedCluster(seed, shards);
    List<SimulatedDenseWorker> workers = IntStream.range(0, 2).mapToObj(i -> new SimulatedDenseWorker(cluster, i, JOB))
        .toList();
    List<Directory.Instance> directory = new ArrayList<>(workers.stream().map(worker -> worker.instance).toList());
    List<Rank> ranks = IntStream.range(0, trainers).mapToObj(rank -> new Rank(cluster, job, rank, directory)).toList();
    CompletableFuture<Void> run = runs(ranks);
    cluster.runUntil(() -> ranks.stream().allMatch(rank -> rank.client != null)); // the start needs all of them
    cluster.time.advance(Duration.ofMillis(afterMillis));
    workers.get(0).die();
    directory.remove(0);
    try {
      assertThat(trained(cluster, ranks, run)).isEqualTo(reference(seed, job));
    } catch (CompletionException e) {
      assertThat(e.getCause()).isInstanceOf(PeerLost.class)
          .hasMessageContaining("start the job again from its last snapshot");
      assertThat(shards).as("of one shard the gradient can always be computed again").isGreaterThan(1);
    }
  }

  @Property(tries = 60)
  void one_trainer_of_a_mode_without_rounds_makes_all_of_its_steps(@ForAll @LongRange(min = 0) long seed,
      @ForAll @IntRange(max = 200) int afterMillis) {
    JobSpec job = job(Mode.ASYNC, 1, 2);
    SimulatedCluster cluster = new SimulatedCluster(seed, 2);
    List<SimulatedDenseWorker> workers = IntStream.range(0, 2).mapToObj(i -> new SimulatedDenseWorker(cluster, i, JOB))
        .toList();
    List<Directory.Instance> directory = new ArrayList<>(workers.stream().map(worker -> worker.instance).toList());
    Rank rank = new Rank(cluster, job, 0, directory);
    CompletableFuture<Void> run = rank.run();
    cluster.runUntil(() -> rank.client != null);
    cluster.time.advance(Duration.ofMillis(afterMillis));
    workers.get(0).die();
    directory.remove(0);
    trained(cluster, List.of(rank), run);
    assertThat(rank.made).isEqualTo(STEPS);
  }
}
