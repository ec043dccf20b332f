package io.regatta.trainer.session;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Clock;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.Parcel;
import io.regatta.trainer.trace.StepTrace;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One rank's membership in a job: what its model threads train against. Shared by the replicas of the rank; every
 * method may be called on any of their threads. Two implementations: {@link LocalSession} (core in this process, one
 * rank) and the one that {@link io.regatta.trainer.service.TrainerVerticle} makes. The futures complete on the
 * session's own thread and fail with a {@link io.regatta.core.error.RegattaException}; model threads wait for them
 * through {@link #await} only.
 */
public interface TrainerSession {

  JobConfig job();

  /** This rank's group: who it is, who the others are, and what they do together. */
  JobGroup group();

  /** See {@link JobGroup#trainer}. */
  default TrainerId trainer() {
    return group().trainer();
  }

  /** See {@link JobGroup#worldSize}. */
  default int worldSize() {
    return group().worldSize();
  }

  /** See {@link JobGroup#calls}. */
  default RankCalls calls() {
    return group().calls();
  }

  /** See {@link JobGroup#ranks}. */
  default Optional<RankOperations> ranks() {
    return group().ranks();
  }

  /**
   * Returns true if ranks may be lost, leave and come while the others continue. What follows from it for the data, steps and
   * starting point of a rank is {@code TrainingPasses}', for a step of collective mode {@code StepLedger}'s.
   */
  default boolean isElastic() {
    return ranks().map(RankOperations::peers).filter(RankGroup::isElastic).isPresent();
  }

  /** Returns true once {@link #connect} has been called for collective mode: the parameters are in this process. */
  default boolean isCollective() {
    return ranks().isPresent();
  }

  /** Control ports of the servers by index; empty in local mode. */
  List<String> serverEndpoints();

  /** Which of the shards of all servers hold what. */
  Sharding sharding();

  /** Shards of all servers together. */
  default int shards() {
    return sharding().shards();
  }

  /**
   * Opens a link to every shard and registers this rank there. The first call connects; later ones (the other
   * replicas) get the same client, or {@code Conflict} if their strategy or model differs.
   */
  CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model);

  /**
   * Gives every rank its parcels; completes with those that came for this one, when each rank has given and got all. All
   * ranks must call it with the same key, which is used once. Fails with {@code PeerLost} if one is lost on the way.
   *
   * @param layout of all examples
   * @param outgoing parcels by rank, this one's own too
   * @return parcels by the rank that they came from
   */
  default CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return worldSize() == 1 ? CompletableFuture.completedFuture(outgoing) : CompletableFuture.failedFuture(
        new InvalidInput("trainer " + trainer().rank() + " has no way to the others to exchange examples"));
  }

  /**
   * Blocks the calling model thread until the stage completes. While it waits it is listed under {@code /why}; it is
   * released with {@code Cancelled} when the session closes.
   *
   * @param operation what is waited for, e.g. {@code pull of step 418}
   */
  <T> T await(String operation, CompletionStage<T> stage);

  /** The client that {@link #connect} made, once it has. */
  Optional<ParameterClient> client();

  /** In collective mode, where this rank's copy of the parameters is; for elastic jobs. */
  default OwnShards ownShards() {
    throw new UnsupportedOperationException("this session has no copy of its own to show");
  }

  /** Where this rank's threads tell what they do, for a timeline; keeps nothing unless the job wants one. */
  default StepTrace trace() {
    return StepTrace.off();
  }

  /** Returns the clock of this rank. */
  default Clock clock() {
    return trace().clock();
  }

  /** Tells how far this rank is, for heartbeats and {@code status}. */
  void stepped(long step);

  /** Adds to the examples that this rank has trained, for heartbeats: what a lost trainer has done is known by its last one. */
  default void trained(long examples) {}

  /**
   * Completes when no other trainer trains on the job's servers any more: all have left, or none has made a step for a while. For a
   * trainer that cannot meet the others because the rendezvous is gone.
   */
  default CompletableFuture<Void> othersAtRest() {
    return CompletableFuture.completedFuture(null);
  }

  /**
   * Asks which of these shards, to which this trainer has lost its links, still serve others. Completes within a few
   * seconds: a shard that does not answer does not serve.
   */
  default CompletableFuture<Set<Integer>> serving(Set<Integer> shards) {
    return CompletableFuture.completedFuture(Set.of());
  }

  /** Returns the address of a shard, {@code host:port}, for messages; empty if it is in this process. */
  default String shardAddress(int shard) {
    return "";
  }

  /** Returns true if the trainers push through aggregators on several hosts: the loss of one concerns its host only. */
  default boolean isOneOfSeveralHosts() {
    return false;
  }

  /**
   * Takes this rank out of all shards, behind everything it has pushed: nobody waits for it, its state is freed.
   *
   * @param succeeded the run has ended with success
   */
  CompletableFuture<Void> leave(boolean succeeded);

  /**
   * What the shards are to save.
   *
   * @param dir that has been made, and that servers see under the same path
   * @param round sync: before which the moment is, and to which this rank has not pushed
   */
  record SaveOrder(Path dir, long round, SnapshotKind kind) {}

  /** A snapshot whose moment has been taken; {@code written} completes with the shards' files, in their order. */
  record Saving(CompletableFuture<List<FileEntry>> written) {}

  /**
   * What the shards are to begin with.
   *
   * @param resume whether the run goes on where the snapshot was taken
   * @param at place of the run; {@link ResumePoint#NONE} if another one begins
   */
  record RestoreOrder(Path dir, boolean resume, ResumePoint at) {}

  /** Completes if the shards write snapshots in a directory; else it fails, with what to do. */
  default CompletableFuture<Void> admitSnapshots(Path directory) {
    return CompletableFuture.completedFuture(null);
  }

  /** Has all shards begin a snapshot; completes when all have taken their moment. */
  default CompletableFuture<Saving> save(SaveOrder order) {
    return CompletableFuture.failedFuture(new UnsupportedOperationException("this session has no snapshots"));
  }

  /**
   * Has all shards read a snapshot; before anything is initialized.
   *
   * @return whether the dense vector was in it; else it is still to be initialized
   */
  default CompletableFuture<Boolean> restore(RestoreOrder order) {
    return CompletableFuture.failedFuture(new UnsupportedOperationException("this session has no snapshots"));
  }

  /** In collective mode: sets the dense values of this rank's own shards; their optimizer's state stays. Model thread. */
  default void assign(DenseMemory flat) {
    throw new UnsupportedOperationException("the parameters lie on servers");
  }

  /** Process ids of the services that this session knows of, by name, e.g. {@code parameter-server-0}. */
  Map<String, Long> serviceProcessIds();

  /** The job as this rank's own shards are told in collective mode, to which it is the only one. */
  default JobSpec ownSpec(ModelSpec model) {
    return new JobSpec(job().job(), Mode.withRounds(), 1, 0, job().nanPolicy(), 1, job().minBlock(), model);
  }

  /** The job as the shards are told. They count pushes, of which each replica of a rank makes one per step in ssp. */
  default JobSpec spec(Strategy strategy, ModelSpec model) {
    JobConfig job = job();
    int bound = Math.multiplyExact(strategy.trainer().stalenessBound(), job.threads());
    return new JobSpec(job.job(), strategy.mode(), worldSize(), bound, job.nanPolicy(), sharding(), job.minBlock(),
        model);
  }
}
