package io.regatta.training.session;

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
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.heter.PartHost;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.trace.StepTrace;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One rank's session of a job, against which its model threads train. Shared by the replicas of the rank; every method
 * may be called on any of their threads. Two implementations: {@link LocalSession} (core in this process, one rank) and
 * the one of {@code TrainerVerticle}. The futures complete on the session's own thread and
 * fail with a {@link io.regatta.core.error.RegattaException}; model threads wait for them only through {@link #await}.
 */
public interface TrainerSession {

  JobConfig job();

  /** Returns the features that the job declares, which are read once. */
  LoadedFeatures features();

  /** Returns this rank's group: its rank, the others, and their common operations. */
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
   * Returns true if ranks may be lost, leave and join while the others continue. {@code TrainingPasses} decides what
   * this means for a rank's data, steps and starting point, and {@code StepLedger} for a step of collective mode.
   */
  default boolean isElastic() {
    return ranks().map(RankOperations::peers).filter(RankGroup::isElastic).isPresent();
  }

  /** Returns the computation of a part of the network at heter workers; empty if the network is not cut. */
  default Optional<RemoteCompute> remote() {
    return Optional.empty();
  }

  /** Returns the source of batches if this process is a heter worker, which trains nothing itself; else empty. */
  default Optional<PartHost> host() {
    return Optional.empty();
  }

  /** Returns true if heter workers pull and push the dense parameters, whose values here are old then. */
  default boolean isDenseElsewhere() {
    return false;
  }

  /** Returns true once {@link #connect} has been called for collective mode: the parameters are in this process. */
  default boolean isCollective() {
    return ranks().isPresent();
  }

  /** Returns the control ports of the servers by index; empty in local mode. */
  List<String> serverEndpoints();

  /** Returns the sharding: which of the shards of all servers hold dense parts and rows. */
  Sharding sharding();

  /** Returns the number of shards of all servers. */
  default int shards() {
    return sharding().shards();
  }

  /**
   * Opens a link to every shard and registers this rank there. The first call connects; later ones (the other replicas)
   * get the same client, or {@code Conflict} if their strategy or model differs.
   */
  CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model);

  /**
   * Sends every rank its batches of examples; completes with those received, when each rank has sent and received all.
   * All ranks must call it with the same key, which is used once. Fails with {@code PeerLost} if a rank is lost
   * meanwhile.
   *
   * @param layout of all examples
   * @param outgoing batches by receiving rank, this one included
   * @return batches by sending rank
   */
  default CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return worldSize() == 1 ? CompletableFuture.completedFuture(outgoing) : CompletableFuture.failedFuture(
        new InvalidInput("trainer " + trainer().rank() + " has no connection to the others to exchange examples"));
  }

  /**
   * Blocks the calling model thread until the stage completes. Meanwhile it is listed under {@code /why}; it is
   * released with {@code Cancelled} when the session closes.
   *
   * @param operation that is awaited, e.g. {@code pull of step 418}
   */
  <T> T await(String operation, CompletionStage<T> stage);

  /** Returns the client of {@link #connect}, once it exists. */
  Optional<ParameterClient> client();

  /** Returns this rank's copy of the parameters in collective mode; for elastic jobs. */
  default OwnShards ownShards() {
    throw new UnsupportedOperationException("this session has no copy of its own to show");
  }

  /** Returns the timeline to which this rank's threads report; it keeps nothing unless the job requests one. */
  default StepTrace trace() {
    return StepTrace.off();
  }

  /** Returns the clock of this rank. */
  default Clock clock() {
    return trace().clock();
  }

  /** Notes the steps of this rank, for heartbeats and {@code status}. */
  void stepped(long step);

  /**
   * Adds to the examples that this rank has trained, for heartbeats: a lost trainer's work is known by its last one.
   */
  default void trained(long examples) {}

  /**
   * Completes when no other trainer trains on the job's servers any more: all have left, or none has made a step for a
   * while. For a trainer that cannot meet the others because the rendezvous is lost.
   */
  default CompletableFuture<Void> othersAtRest() {
    return CompletableFuture.completedFuture(null);
  }

  /**
   * Returns those of these shards, to which this trainer has lost its links, that still serve others. Completes within
   * a few seconds: a shard that does not answer does not serve.
   */
  default CompletableFuture<Set<Integer>> serving(Set<Integer> shards) {
    return CompletableFuture.completedFuture(Set.of());
  }

  /** Returns the address of a shard, {@code host:port}, for messages; empty if it is in this process. */
  default String shardAddress(int shard) {
    return "";
  }

  /** Returns true if the trainers push through aggregators on several hosts: the loss of one affects its host only. */
  default boolean isOneOfSeveralHosts() {
    return false;
  }

  /**
   * Leaves all shards, after everything that this rank has pushed: the others no longer wait for it, and its state is
   * freed.
   *
   * @param succeeded true if the run has ended with success
   */
  CompletableFuture<Void> leave(boolean succeeded);

  /**
   * A request to the shards to take a snapshot.
   *
   * @param dir existing directory that servers see under the same path
   * @param round sync: the round before which the state is captured, to which this rank has not pushed
   */
  record SaveOrder(Path dir, long round, SnapshotKind kind) {}

  /** A snapshot whose state has been captured; {@code written} completes with the shards' files, in their order. */
  record Saving(CompletableFuture<List<FileEntry>> written) {}

  /**
   * A request to the shards to read a snapshot.
   *
   * @param resume true if the run resumes where the snapshot was taken
   * @param at position of the run; {@link ResumePoint#NONE} if another one begins
   */
  record RestoreOrder(Path dir, boolean resume, ResumePoint at) {}

  /** Completes if the shards may write snapshots in a directory; otherwise it fails with what to do. */
  default CompletableFuture<Void> admitSnapshots(Path directory) {
    return CompletableFuture.completedFuture(null);
  }

  /** Begins a snapshot on all shards; completes when all have captured their state. */
  default CompletableFuture<Saving> save(SaveOrder order) {
    return CompletableFuture.failedFuture(new UnsupportedOperationException("this session has no snapshots"));
  }

  /**
   * Reads a snapshot on all shards, before anything is initialized.
   *
   * @return true if the dense vector was in it; otherwise it must be initialized
   */
  default CompletableFuture<Boolean> restore(RestoreOrder order) {
    return CompletableFuture.failedFuture(new UnsupportedOperationException("this session has no snapshots"));
  }

  /**
   * Sets the dense values of this rank's own shards in collective mode; their optimizer's state stays. Called on the
   * model thread.
   */
  default void assign(DenseMemory flat) {
    throw new UnsupportedOperationException("the parameters are on servers");
  }

  /** Returns the process ids of the services that this session knows, by name, e.g. {@code parameter-server-0}. */
  Map<String, Long> serviceProcessIds();

  /** Returns the job as it is declared to this rank's own shards in collective mode, for which it is the only rank. */
  default JobSpec ownSpec(ModelSpec model) {
    return new JobSpec(job().job(), Mode.withRounds(), 1, 0, job().nanPolicy(), 1, job().minBlock(), model);
  }

  /**
   * Returns the job as it is declared to the shards. They count pushes, of which each replica of a rank makes one per
   * step in ssp.
   */
  default JobSpec spec(Strategy strategy, ModelSpec model) {
    JobConfig job = job();
    int bound = Math.multiplyExact(strategy.trainer().stalenessBound(), job.threads());
    return new JobSpec(job.job(), strategy.mode(), worldSize(), bound, job.nanPolicy(), sharding(), job.minBlock(),
        model);
  }
}
