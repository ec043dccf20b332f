package io.regatta.training.session;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseState;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.shard.JobRestore;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableSnapshot;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.ShardRestorer;
import io.regatta.snapshot.ShardSaver;
import io.regatta.training.session.TrainerSession.RestoreOrder;
import io.regatta.training.session.TrainerSession.SaveOrder;
import io.regatta.training.session.TrainerSession.Saving;
import io.regatta.training.trace.StepTrace;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Shards in this process that serve one rank alone: {@code --local} trains on them, and in collective mode they hold a
 * rank's copy of the parameters and its optimizer. For them the rank is trainer 0 of a job of one. Any thread may use
 * them; a lock serializes the calls to the shards.
 */
public final class OwnShards {

  private static final TrainerId ALONE = new TrainerId(0, 1);

  private final ReentrantLock lock = new ReentrantLock();
  private final List<ParameterShard> parameters = new ArrayList<>();
  private final int shards;
  private final StepTrace trace;
  private CompletableFuture<ParameterClient> connected;
  private JobSpec spec;

  /** @param shards their number does not change a bit of the result */
  public OwnShards(int shards, StepTrace trace) {
    this.shards = shards;
    this.trace = trace;
  }

  /**
   * Creates the shards at the first call; later calls get the same client, or {@code Conflict} if they request
   * something else.
   */
  public CompletableFuture<ParameterClient> connect(JobSpec asked) {
    lock.lock();
    try {
      if (connected == null) {
        spec = asked;
        Executor serial = this::serially;
        List<LocalShardLink> links = new ArrayList<>(shards);
        for (int s = 0; s < shards; s++) {
          parameters.add(new ParameterShard(s, ShardLimits.defaults(), SystemClock.get()));
          links.add(new LocalShardLink(parameters.get(s)));
        }
        ParameterClient client = new ParameterClient(asked, ALONE, trace.of(links), serial);
        connected = client.register().thenApply(v -> client);
      } else if (!asked.equals(spec)) {
        return CompletableFuture.failedFuture(new Conflict("job " + asked.job()
            + ": this replica's model or strategy differs from that of the first replica; give all replicas the same"));
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

  /** Returns the client, once there is one. */
  public Optional<ParameterClient> client() {
    CompletableFuture<ParameterClient> made = asked(() -> connected);
    return made == null ? Optional.empty() : Optional.ofNullable(made.getNow(null));
  }

  /** Sets the dense values; the optimizer's state stays. */
  public void assign(DenseMemory flat) {
    DensePartition partition = client().orElseThrow().partition();
    serially(() -> parameters.forEach(shard -> shard.assign(spec.job(), flat.slice(partition, shard.index()))));
  }

  /**
   * Takes a snapshot; the calling model thread writes the files, while other replicas continue. Fails with {@code
   * Conflict} before the first values.
   */
  public CompletableFuture<Saving> save(SaveOrder order) {
    TableSnapshot.Scope scope = switch (order.kind()) {
      case BASE -> TableSnapshot.Scope.BASE;
      case DELTA -> TableSnapshot.Scope.DELTA;
      case FULL, BATCH, MODEL -> TableSnapshot.Scope.ALL;
    };
    List<CompletableFuture<JobSnapshot>> taken = new ArrayList<>();
    serially(() -> parameters.forEach(shard -> taken.add(taken(shard, order.round(), scope).toCompletableFuture())));
    return CompletableFuture.allOf(taken.toArray(CompletableFuture[]::new)).thenApply(v -> {
      CompletableFuture<List<FileEntry>> written = new CompletableFuture<>();
      try {
        List<FileEntry> files = new ArrayList<>();
        for (CompletableFuture<JobSnapshot> snapshot : taken) {
          files.add(ShardSaver.save(snapshot.join(), ConfinedDirectory.of(order.dir()), this::asked));
        }
        written.complete(files);
      } catch (IOException | RuntimeException e) {
        written.completeExceptionally(e);
      }
      return new Saving(written);
    });
  }

  /** Reads a snapshot; the calling model thread reads the files. */
  public CompletableFuture<Boolean> restore(RestoreOrder order) {
    try {
      boolean dense = true;
      for (ParameterShard shard : parameters) {
        JobRestore into = asked(() -> shard.restore(spec.job()));
        dense &= ShardRestorer.restore(into, ConfinedDirectory.of(order.dir()), order.resume(), order.at(),
            this::asked);
      }
      return CompletableFuture.completedFuture(dense);
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns the number of floats that {@link #copy} writes: the dense values, and the optimizer's state of each. */
  public long floats() {
    return (long) numel() * parts();
  }

  private int parts() {
    return 1 + spec.model().denseOptimizer().optimizer().slots().size();
  }

  private int numel() {
    return spec.model().denseNumel();
  }

  /**
   * The progress of the one shard.
   *
   * @param version updates that the values contain
   * @param updates that the optimizer has made since its slots were fresh
   * @param step next step
   */
  public record Progress(long version, long updates, long step) {}

  /** Returns the progress of the one shard. Called between two steps; fails before the first values. */
  public Progress progress() {
    Progress[] progress = new Progress[1];
    snapshot(snapshot -> progress[0] = new Progress(snapshot.version(), snapshot.updates().dense(), snapshot.step()));
    return progress[0];
  }

  /**
   * Writes the one shard's dense values and then each of its slots at the buffer's position. Called between two steps;
   * fails before the first values.
   */
  public void copy(FloatBuffer to) {
    snapshot(snapshot -> {
      DenseState dense = snapshot.dense();
      int parts = parts();
      for (int part = 0; part < parts; part++) {
        for (int b = 0; b < DenseValues.blocks(dense.size()); b++) {
          int length = Math.min(DenseValues.BLOCK, dense.size() - b * DenseValues.BLOCK);
          to.put(part == 0 ? dense.values(b) : dense.slots(b)[part - 1], 0, length);
        }
      }
    });
  }

  private void snapshot(Consumer<JobSnapshot> look) {
    asked(() -> taken(one(), 0, TableSnapshot.Scope.ALL).thenAccept(snapshot -> {
      boolean seen = false;
      try {
        look.accept(snapshot);
        seen = true;
      } finally {
        snapshot.end(seen);
      }
    })).toCompletableFuture().join();
  }

  /**
   * Takes a shard's snapshot, or refuses if it has no values: only this rank could initialize them, so its wait for them
   * would not end. With values it is answered at once, since these shards have no later time slices.
   */
  private CompletionStage<JobSnapshot> taken(ParameterShard shard, long step, TableSnapshot.Scope scope) {
    if (!shard.hasValues(spec.job())) {
      return CompletableFuture.failedFuture(new Conflict("job " + spec.job() + " has no values in this process yet, so its "
          + "state cannot be copied or saved; create the trainer, which initializes them, first"));
    }
    return shard.snapshot(spec.job(), step, scope, Long.MAX_VALUE);
  }

  /** Replaces the content by what another rank's {@link #copy} has written. Called between two steps. */
  public void replace(FloatBuffer from, Progress at) {
    int slots = parts() - 1;
    int blocks = DenseValues.blocks(numel());
    float[][] values = new float[blocks][];
    float[][][] kept = new float[blocks][slots][];
    for (int part = 0; part <= slots; part++) {
      for (int b = 0; b < blocks; b++) {
        float[] block = new float[Math.min(DenseValues.BLOCK, numel() - b * DenseValues.BLOCK)];
        from.get(block);
        if (part == 0) {
          values[b] = block;
        } else {
          kept[b][part - 1] = block;
        }
      }
    }
    serially(() -> one().replace(spec.job(), values, kept, at.version(), at.updates(), at.step()));
  }

  /** Returns the single shard, which holds the whole dense vector in its own order. */
  private ParameterShard one() {
    if (parameters.size() != 1) {
      throw new IllegalStateException("the dense vector of job " + spec.job() + " is divided among " + parameters.size() + " shards");
    }
    return parameters.get(0);
  }

  private <T> T asked(Supplier<T> question) {
    lock.lock();
    try {
      return question.get();
    } finally {
      lock.unlock();
    }
  }
}
