package io.regatta.training;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.ExampleExchange;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import java.nio.file.Path;
import java.util.List;

/**
 * What a {@link TrainingProgram} sees of the cluster: its place in it and the few things that ranks do together. One
 * per replica, used on that replica's model thread only. Blocking calls end with {@code Cancelled} when the run is
 * stopped and with {@code PeerLost} when somebody waited for is gone.
 */
public interface Worker {

  /** This trainer's rank in [0, worldSize). */
  int rank();

  /** Number of trainers. */
  int worldSize();

  /** This replica's number in [0, replicas) within its trainer. */
  int replica();

  /** Model replicas of this trainer ({@code threads} in the job file). */
  int replicas();

  /** True for replica 0 of rank 0. */
  boolean isFirstWorker();

  /** This replica's place among all replicas of all trainers: {@code rank * replicas + replica}. */
  default int shardIndex() {
    return rank() * replicas() + replica();
  }

  /** Number of replicas of all trainers: {@code worldSize * replicas}. */
  default int shardCount() {
    return worldSize() * replicas();
  }

  /** {@code host:port} of the servers' control ports by server index; empty in local mode. */
  List<String> serverEndpoints();

  /** Endpoints of the trainers by rank, as they announced themselves; empty strings where they did not. */
  List<String> workerEndpoints();

  /**
   * What lies where: a line {@code name:blockN:size @ shard s [from..to)} for each block of the dense variables, in the
   * order in which they are dealt, then one for each sparse table. Empty until a {@link FleetTrainer} is initialized,
   * which logs the same on rank 0.
   */
  String serverShardMap();

  /** The job as configured. */
  JobConfig job();

  /**
   * The program's own section ({@code settings}) of the job, bound to a record of the program. A program that has not
   * asked for it when it makes its trainer takes no settings: keys that stand there are then refused.
   */
  <R extends Record> R settings(Class<R> type);

  /**
   * The job's {@code device}, which is there: for {@code Model.newInstance(name, worker.device())}, and
   * {@code optDevices} of the {@code TrainingConfig}, which on a machine with GPUs would take one otherwise.
   */
  Device device();

  /** The optimizer of the job file, to put into a {@code TrainingConfig}. */
  RegattaOptimizer optimizer();

  /** A trainer for this replica that exchanges parameters by the given strategy. One per run and replica. */
  FleetTrainer distributedTrainer(Model model, TrainingConfig config, Strategy strategy);

  /** A trainer with the job file's strategy. */
  default FleetTrainer distributedTrainer(Model model, TrainingConfig config) {
    return distributedTrainer(model, config, Strategy.fromJob(job()));
  }

  /**
   * This replica's part of a data set, so that the parts of all replicas are the whole. Of one that can be indexed
   * ({@code RandomAccessDataset}): the records at positions {@code shardIndex() + i * shardCount()}; of a
   * {@link io.regatta.training.dataset.SlotDataset}: its part of every window of {@code shardCount()} batches. With ordered reading
   * the batches of one step together hold the records of one {@code shardCount()} times larger batch. Of a
   * {@link io.regatta.training.dataset.QueueDataset}: whole files, as {@link #shard(List)}.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput for other data sets, and for an
   *     {@link io.regatta.training.dataset.InMemoryDataset}, which reads a replica's own files
   */
  Dataset shard(Dataset dataset);

  /**
   * What becomes of lines that cannot be understood, as the job's {@code data.on_bad_line} says, for sources of the program's
   * own; the trainer's metric {@code regatta.trainer.bad.lines} counts those that are left out.
   *
   * @param logged false: counts only, where another replica reads the same lines and logs them
   */
  BadLines badLines(boolean logged);

  /** This replica's files: a contiguous part, the first {@code size % shardCount()} replicas get one more. */
  List<String> shard(List<String> files);

  /**
   * Returns when all replicas of all active trainers have called it as often as this one. While a trainer waits here
   * the steps of the others do not wait for it; they may have made different numbers of steps, and all go on from the
   * highest.
   */
  void barrier();

  /** Combines small host values over all replicas of all trainers in rank order; everybody gets the same bits. */
  double[] allReduce(double[] values, ReduceOp op);

  /** How this replica gives examples to the others and gets theirs, for {@code InMemoryDataset.globalShuffle}. */
  ExampleExchange exampleExchange();

  /** The metrics over all replicas of all trainers, exactly those of one process with the same histograms. */
  BinaryMetrics global(BinaryMetrics local);

  /**
   * Brings all replicas of all trainers to the same values outside of steps, before they evaluate or save: hands in
   * what is outstanding (geo), waits for all, and takes over the newest parameters. All must call it.
   */
  void settle(FleetTrainer trainer);

  /**
   * One pass over a data set: forward, backward and step for every batch, on the calling model thread. Behind it come, as the
   * job says, the {@link #shrink} that ends a day ({@code shrink_each_pass}), with the metric {@code rows_removed}, and the
   * snapshot ({@code snapshots.every_pass}); so do they behind an epoch of {@code EasyTrain.fit}, in a program that does not call this.
   *
   * @param trainer initialized
   * @param dataset this replica's part already
   * @param fetch called every {@code everyBatches} batches, may be null
   * @param everyBatches ≥ 1
   * @param debug adds the time breakdown to what is fetched and logged
   */
  TrainingReport trainFromDataset(FleetTrainer trainer, Dataset dataset, FetchHandler fetch, int everyBatches,
      boolean debug);

  /** Where to report how far this replica is. */
  Progress progress();

  /**
   * Puts a figure into the result of the run: {@code loss}, {@code auc}, {@code accuracy}, {@code logloss} have places
   * of their own there, others are kept under their name. The first worker's values count. Of a key reported again
   * without a step in between, NaN does not replace a value: the mean of an epoch that {@code max_steps} left empty.
   */
  void report(String key, double value);

  /**
   * Removes rows of the sparse tables as the tables' lives say, after their shows and clicks have decayed: once on every
   * shard, while all trainers stand still between two steps ({@link #settle}). All replicas of all trainers must call it;
   * the lowest rank there is asks the shards, and again what was lost with it on the way is asked by the next one.
   *
   * @param endOfDay whether a day has ended: rows that no training pull has named since grow a day older
   * @return the same to everybody
   */
  Shrunk shrink(FleetTrainer trainer, boolean endOfDay);

  /**
   * Takes a snapshot of this kind, {@code KIND-NNNNNNNNN} with the number of steps, in the job's {@code snapshots.dir} (or
   * {@code output}): for loops of a program's own, at any place between two steps, within a pass too. All replicas of all trainers
   * must call it; it returns when the moment has been taken, and the servers write while training goes on. One that fails is told
   * of in the log and leaves nothing. A delta without a base before it becomes a base.
   *
   * @param kind full, base, delta or batch
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the job has no directory for snapshots, or that has those of
   *     another run
   */
  void snapshot(FleetTrainer trainer, SnapshotKind kind);

  /**
   * Saves all parameters, dense and sparse, in {@code dir}: safetensors files and {@code manifest.json} with their
   * SHA-256. All replicas of all trainers must call it; the lowest rank there is writes, the
   * others wait (and write, if it is lost meanwhile).
   */
  Path save(FleetTrainer trainer, Path dir);
}
