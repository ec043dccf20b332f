package io.regatta.trainer.session;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.reduce.Elementwise;
import io.regatta.core.shard.JobRestore;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot;
import io.regatta.protocol.snapshot.FileEntry;
import io.regatta.protocol.snapshot.ShardRestorer;
import io.regatta.protocol.snapshot.ShardSaver;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.trace.StepTrace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A job of one rank whose shards live in this process: what {@code --local} trains on, the reference that the
 * distributed modes are compared with. Whatever the mode asked for, it runs as sync: with one rank there is nobody to
 * be out of step with. Any thread; a lock makes the replicas' calls to the shards serial.
 */
public final class LocalSession implements TrainerSession, AutoCloseable {

  private final JobConfig job;
  private final int shards;
  private final StepTrace trace;
  private final TrainerId trainer = new TrainerId(0, 1);
  private final Awaiting awaiting = new Awaiting();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<ParameterShard> parameters = new ArrayList<>();
  private CompletableFuture<ParameterClient> connected;
  private JobSpec spec;

  /** One shard: the number does not change a bit of the result. */
  public LocalSession(JobConfig job) {
    this(job, 1);
  }

  LocalSession(JobConfig job, int shards) {
    this.job = job;
    this.shards = shards;
    trace = StepTrace.of(job.trace(), 0, 1);
  }

  @Override
  public JobConfig job() {
    return job;
  }

  @Override
  public TrainerId trainer() {
    return trainer;
  }

  @Override
  public int worldSize() {
    return 1;
  }

  @Override
  public List<String> serverEndpoints() {
    return List.of();
  }

  @Override
  public List<String> workerEndpoints() {
    return List.of("");
  }

  @Override
  public int shards() {
    return shards;
  }

  @Override
  public CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
    lock.lock();
    try {
      JobSpec asked = spec(new Strategy(Mode.SYNC, 0, 0), model);
      if (connected == null) {
        spec = asked;
        Executor serial = this::serially;
        List<LocalShardLink> links = new ArrayList<>(shards);
        for (int s = 0; s < shards; s++) {
          parameters.add(new ParameterShard(s, ParameterShard.Limits.defaults(), System::currentTimeMillis));
          links.add(new LocalShardLink(parameters.get(s)));
        }
        ParameterClient client = new ParameterClient(asked, trainer, trace.of(links), serial);
        connected = client.register().thenApply(v -> client);
      } else if (!asked.equals(spec)) {
        return CompletableFuture.failedFuture(new Conflict("job " + job.job()
            + ": this replica's model or strategy differs from that of the replica that came first"));
      }
      return connected;
    } finally {
      lock.unlock();
    }
  }

  private void serially(Runnable call) {
    lock.lock();
    try {
      call.run();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<ParameterClient> client() {
    return connected == null ? Optional.empty() : Optional.ofNullable(connected.getNow(null));
  }

  @Override
  public CompletableFuture<List<double[]>> gather(String key, double[] values) {
    return CompletableFuture.completedFuture(List.of(values));
  }

  @Override
  public CompletableFuture<Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
    return CompletableFuture.completedFuture(new Reduced(slice, List.of(0)));
  }

  /** The calling model thread writes the files, while other replicas go on. */
  @Override
  public CompletableFuture<Saving> save(SaveOrder order) {
    TableSnapshot.Scope scope = switch (order.kind()) {
      case BASE -> TableSnapshot.Scope.BASE;
      case DELTA -> TableSnapshot.Scope.DELTA;
      case FULL, BATCH, MODEL -> TableSnapshot.Scope.ALL;
    };
    List<CompletableFuture<JobSnapshot>> taken = new ArrayList<>();
    serially(() -> parameters.forEach(shard -> {
      CompletableFuture<JobSnapshot> one = new CompletableFuture<>();
      taken.add(one);
      shard.snapshot(job.job(), order.pushes(), scope, Long.MAX_VALUE, (snapshot, error) -> {
        if (error != null) {
          one.completeExceptionally(error);
        } else {
          one.complete(snapshot);
        }
      });
    }));
    return CompletableFuture.allOf(taken.toArray(CompletableFuture[]::new)).thenApply(v -> {
      CompletableFuture<List<FileEntry>> written = new CompletableFuture<>();
      try {
        List<FileEntry> files = new ArrayList<>();
        for (CompletableFuture<JobSnapshot> snapshot : taken) {
          files.add(ShardSaver.save(snapshot.join(), order.dir(), this::asked));
        }
        written.complete(files);
      } catch (IOException | RuntimeException e) {
        written.completeExceptionally(e);
      }
      return new Saving(written);
    });
  }

  @Override
  public CompletableFuture<Boolean> restore(RestoreOrder order) {
    try {
      boolean dense = true;
      for (ParameterShard shard : parameters) {
        JobRestore into = asked(() -> shard.restore(job.job()));
        dense &= ShardRestorer.restore(into, order.dir(), order.resume(), order.pushes(), this::asked);
      }
      return CompletableFuture.completedFuture(dense);
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private <T> T asked(Supplier<T> question) {
    lock.lock();
    try {
      return question.get();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    return awaiting.await(operation + " of job " + job.job(), stage);
  }

  @Override
  public StepTrace trace() {
    return trace;
  }

  @Override
  public void stepped(long step) {}

  @Override
  public CompletableFuture<Void> leave() {
    return client().map(ParameterClient::leave).orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return Map.of();
  }

  /** Releases whoever waits. */
  @Override
  public void close() {
    awaiting.end(new Cancelled("job " + job.job() + " is being stopped"));
  }
}
