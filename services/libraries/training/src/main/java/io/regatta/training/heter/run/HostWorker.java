package io.regatta.training.heter.run;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.ExampleExchange;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.heter.PartHost;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.result.EvaluationRecord;
import io.regatta.training.session.TrainerSession;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/**
 * The worker of a program that runs at a heter worker. It is alone; operations of all ranks wait for the first trainer
 * and return what they were given. Belongs to the model thread.
 */
final class HostWorker implements Worker {

  private final TrainerSession session;
  private final PartHost host;
  private final Device device;
  private boolean made;

  HostWorker(TrainerSession session, PartHost host, Device device) {
    this.session = session;
    this.host = host;
    this.device = device;
  }

  /** Returns true once the program has made its trainer. */
  boolean hasMadeTrainer() {
    return made;
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int worldSize() {
    return job().trainers();
  }

  @Override
  public int replica() {
    return 0;
  }

  @Override
  public int replicas() {
    return 1;
  }

  /** Returns false: the first trainer writes and shows what the first worker does. */
  @Override
  public boolean isFirstWorker() {
    return false;
  }

  @Override
  public List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public List<String> workerEndpoints() {
    return Collections.nCopies(worldSize(), "");
  }

  @Override
  public String serverShardMap() {
    return "";
  }

  @Override
  public JobConfig job() {
    return session.job();
  }

  @Override
  public <R extends Record> R settings(Class<R> type) {
    return job().settingsAs(type);
  }

  /** Returns the features as they are here, once the trainers have compared theirs. */
  @Override
  public DeclaredFeatures features() {
    barrier();
    return session.features().get().orElseThrow(() -> new InvalidInput("job " + job().job() + ": the job declares no features; add the "
        + "sections features and labels"));
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public RegattaOptimizer optimizer() {
    return new RegattaOptimizer(job().optimizer().toSpec(job().replicas()));
  }

  @Override
  public FleetTrainer distributedTrainer(Model model, TrainingConfig config, Strategy strategy) {
    made = true;
    return new FleetTrainer(model, config, strategy, ReplicaContext.single(session));
  }

  /** Returns the data set: a heter worker reads none of it. */
  @Override
  public Dataset shard(Dataset dataset) {
    return dataset;
  }

  @Override
  public BadLines badLines(boolean logged) {
    return new BadLines(job().data().onBadLine(), logged);
  }

  @Override
  public List<String> shard(List<String> files) {
    return files;
  }

  @Override
  public void barrier() {
    session.await("a trainer of job " + job().job(), host.wanted());
  }

  @Override
  public double[] allReduce(double[] values, ReduceOp op) {
    barrier();
    return values.clone();
  }

  @Override
  public ExampleExchange exampleExchange() {
    return new ExampleExchange() {
      @Override
      public int worker() {
        return 0;
      }

      @Override
      public int workers() {
        return 1;
      }

      @Override
      public List<List<SlotBatch>> exchange(Layout layout, List<List<SlotBatch>> outgoing) {
        barrier();
        return outgoing;
      }
    };
  }

  @Override
  public BinaryMetrics global(BinaryMetrics local) {
    barrier();
    return local;
  }

  @Override
  public void settle(FleetTrainer trainer) {
    throw notHere("settle");
  }

  @Override
  public TrainingReport trainFromDataset(FleetTrainer trainer, Dataset dataset, FetchHandler fetch, int everyBatches,
      boolean debug) {
    throw notHere("trainFromDataset");
  }

  @Override
  public Progress progress() {
    return Progress.none();
  }

  @Override
  public void report(String key, double value) {}

  @Override
  public void evaluated(EvaluationRecord evaluation) {}

  @Override
  public Shrunk shrink(FleetTrainer trainer, boolean endOfDay) {
    throw notHere("shrink");
  }

  @Override
  public void snapshot(FleetTrainer trainer, SnapshotKind kind) {
    throw notHere("snapshot");
  }

  @Override
  public Path save(FleetTrainer trainer, Path dir) {
    throw notHere("save");
  }

  @Override
  public void keep(Path dir) {}

  private InvalidInput notHere(String operation) {
    return new InvalidInput("job " + job().job() + ": the program calls worker." + operation
        + " before trainer.initialize(shapes), "
        + "after which a heter worker serves its trainers; initialize the trainer first");
  }
}
