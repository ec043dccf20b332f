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
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.EvaluationRecord;
import java.nio.file.Path;
import java.util.List;

/**
 * A {@link TrainingProgram}'s view of the cluster: its place in it and the few operations that ranks do together. There
 * is one per replica, used on that replica's model thread only. Blocking calls end with {@code Cancelled} when the run
 * is stopped, and with {@code PeerLost} when a process that they wait for is lost.
 */
public interface Worker {

  /** Returns this trainer's rank, in [0, worldSize). */
  int rank();

  /** Returns the number of trainers. */
  int worldSize();

  /** Returns this replica's number within its trainer, in [0, replicas). */
  int replica();

  /** Returns the number of model replicas of this trainer ({@code threads} in the job file). */
  int replicas();

  /** Returns true for replica 0 of rank 0. */
  boolean isFirstWorker();

  /** Returns this replica's number among all replicas of all trainers: {@code rank * replicas + replica}. */
  default int shardIndex() {
    return rank() * replicas() + replica();
  }

  /** Returns the number of replicas of all trainers: {@code worldSize * replicas}. */
  default int shardCount() {
    return worldSize() * replicas();
  }

  /** Returns {@code host:port} of the servers' control ports by server index; empty in local mode. */
  List<String> serverEndpoints();

  /** Returns the endpoints of the trainers by rank, as they announced them; empty strings where they did not. */
  List<String> workerEndpoints();

  /**
   * Returns the placement of the parameters. It has a line {@code name:blockN:size @ shard s [from..to)} for each block
   * of the dense variables, in the order of assignment, then one for each sparse table. It is empty until a
   * {@link FleetTrainer} is initialized, which logs the same on rank 0.
   */
  String serverShardMap();

  /** Returns the job as configured. */
  JobConfig job();

  /**
   * Returns the job's section {@code settings}, bound to a record of the program. A program that has not called this
   * when it makes its trainer takes no settings: keys in the section are then refused.
   */
  <R extends Record> R settings(Class<R> type);

  /**
   * Returns the features that the job declares, and a source of examples of them; they are read once per trainer. All
   * replicas of all trainers must call it equally often.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the job declares none, statistics that they need are
   *     missing, or the trainers have different ones
   */
  DeclaredFeatures features();

  /**
   * Returns the job's {@code device}, which exists on this machine. Use it for
   * {@code Model.newInstance(name, worker.device())} and for {@code optDevices} of the {@code TrainingConfig}, whose
   * own default on a machine with GPUs is a GPU.
   */
  Device device();

  /** Returns the optimizer of the job file, to put into a {@code TrainingConfig}. */
  RegattaOptimizer optimizer();

  /**
   * Creates the trainer of this replica, which exchanges parameters by the given strategy. Allowed once per run and
   * replica.
   */
  FleetTrainer distributedTrainer(Model model, TrainingConfig config, Strategy strategy);

  /** Creates a trainer with the job file's strategy. */
  default FleetTrainer distributedTrainer(Model model, TrainingConfig config) {
    return distributedTrainer(model, config, Strategy.fromJob(job()));
  }

  /**
   * Returns this replica's partition of a data set; the partitions of all replicas make up the whole. The partition
   * depends on the data set:
   * <ul>
   *   <li>{@code RandomAccessDataset}: the records at positions {@code shardIndex() + i * shardCount()};
   *   <li>{@link io.regatta.training.dataset.SlotDataset}: its share of every window of {@code shardCount()} batches;
   *       with ordered reading the batches of one step together hold the records of one {@code shardCount()} times
   *       larger batch;
   *   <li>{@link io.regatta.training.dataset.QueueDataset}: whole files, as {@link #shard(List)}.
   * </ul>
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput for other data sets, and for an
   *     {@link io.regatta.training.dataset.InMemoryDataset}, which reads a replica's own files
   */
  Dataset shard(Dataset dataset);

  /**
   * Returns the handler of lines that cannot be parsed, by the job's {@code data.on_bad_line}, for a program's own
   * sources. The metric {@code regatta.trainer.bad.lines} counts the lines that are skipped.
   *
   * @param logged false: counts only, if another replica reads the same lines and logs them
   */
  BadLines badLines(boolean logged);

  /** Returns this replica's files: a contiguous run; the first {@code size % shardCount()} replicas get one more. */
  List<String> shard(List<String> files);

  /**
   * Blocks until all replicas of all active trainers have called it as often as this one. While a trainer waits here,
   * the steps of the others do not wait for it. Trainers may have made different numbers of steps; all resume from the
   * highest.
   */
  void barrier();

  /** Combines small host values over all replicas of all trainers in rank order; all get the same bits. */
  double[] allReduce(double[] values, ReduceOp op);

  /** Returns this replica's channel to exchange examples with the others, for {@code InMemoryDataset.globalShuffle}. */
  ExampleExchange exampleExchange();

  /**
   * Returns the metrics over all replicas of all trainers; they equal those of one process with the same histograms.
   */
  BinaryMetrics global(BinaryMetrics local);

  /**
   * Brings all replicas of all trainers to the same values outside of steps, before they evaluate or save. It flushes
   * what is outstanding (geo), waits for all, and takes over the newest parameters. All must call it.
   */
  void settle(FleetTrainer trainer);

  /**
   * Trains one pass over a data set: forward, backward and step for every batch, on the calling model thread. If the
   * job says so, the pass ends with the {@link #shrink} that ends a day ({@code shrink_each_pass}), which reports the
   * metric {@code rows_removed}, and with the snapshot of {@code snapshots.every_pass}. In a program that does not call
   * this method, both follow each epoch of {@code EasyTrain.fit}.
   *
   * @param trainer initialized
   * @param dataset this replica's partition already
   * @param fetch called every {@code everyBatches} batches, may be null
   * @param everyBatches ≥ 1
   * @param debug adds the time breakdown to what is fetched and logged
   */
  TrainingReport trainFromDataset(FleetTrainer trainer, Dataset dataset, FetchHandler fetch, int everyBatches,
      boolean debug);

  /** Returns the progress display of this replica. */
  Progress progress();

  /**
   * Puts a metric into the result of the run. {@code loss}, {@code auc}, {@code accuracy} and {@code logloss} have
   * fields of their own there; others are kept under their name. The first worker's values count. If a key is reported
   * again without a step in between, NaN does not replace a value: it is the mean of an epoch that {@code max_steps}
   * left empty.
   */
  void report(String key, double value);

  /**
   * Adds an evaluation to those in the result of the run, in the order of the calls. The lowest rank's count.
   *
   * @see io.regatta.training.validation.Validation
   */
  void evaluated(EvaluationRecord evaluation);

  /**
   * Removes rows of the sparse tables by the tables' expiry rules, after their shows and clicks have decayed. It runs
   * once on every shard, while all trainers are stopped between two steps ({@link #settle}). All replicas of all
   * trainers must call it. The lowest active rank sends the requests; if it is lost, the next one repeats those that
   * were lost with it.
   *
   * @param endOfDay true if a day has ended: rows that no training pull has named since grow a day older
   * @return the same result on all replicas
   */
  Shrunk shrink(FleetTrainer trainer, boolean endOfDay);

  /**
   * Takes a snapshot of the given kind, between two steps, within a pass too; for training loops of a program's own. It
   * is named {@code KIND-NNNNNNNNN} with the number of steps, and lies in the job's {@code snapshots.dir} (or
   * {@code output}). All replicas of all trainers must call it. It returns when the state has been captured; the
   * servers write it while training continues. A snapshot that fails is logged and leaves no files. A delta without an
   * earlier base becomes a base.
   *
   * @param kind full, base, delta or batch
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the job has no directory for snapshots, or the
   *     directory holds those of another run
   */
  void snapshot(FleetTrainer trainer, SnapshotKind kind);

  /**
   * Saves all parameters, dense and sparse, in {@code dir}: safetensors files and {@code manifest.json} with their
   * SHA-256. All replicas of all trainers must call it. The lowest active rank writes while the others wait; if it is
   * lost meanwhile, the next one writes.
   */
  Path save(FleetTrainer trainer, Path dir);

  /** Declares that the model that this run has saved in {@code dir} before it was resumed is its result. */
  void keep(Path dir);
}
