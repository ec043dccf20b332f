package io.regatta.training.testing;

import com.google.protobuf.Message;
import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.progress.Progress;
import io.regatta.core.reduce.Elementwise;
import io.regatta.core.shard.ParameterShard;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.LoadedFeatures;
import io.regatta.training.heter.RemoteCompute;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.RankRun;
import io.regatta.training.session.Awaiting;
import io.regatta.training.session.GatheredCalls;
import io.regatta.training.session.JobGroup;
import io.regatta.training.session.OwnShards;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.trace.StepTrace;
import java.lang.reflect.Proxy;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Several ranks in one process on core's shards, or in collective mode: sessions as a cluster has them, without a network. All
 * shards and gathers belong to one thread.
 */
public final class SharedShards implements AutoCloseable {

  private final ExecutorService owner = Executors.newSingleThreadExecutor(r -> new Thread(r, "shards"));
  private final List<ParameterShard> shards = new ArrayList<>();
  private final Map<String, Gather<?>> gathers = new HashMap<>();
  private final JobConfig job;
  private volatile boolean lostAtTheEnd;
  private IntFunction<RemoteCompute> remote = rank -> null;
  /** Pushes of each link to the last shard until it breaks. */
  private volatile long pushesUntilCut = Long.MAX_VALUE;
  private volatile boolean cut;
  private volatile boolean serving;
  private final SharedPeers peers;
  private final List<Session> sessions = new ArrayList<>();
  private final List<CompletableFuture<RunResult>> results = new ArrayList<>();

  private record Gather<T>(Map<Integer, T> values, CompletableFuture<List<T>> done) {}

  public SharedShards(JobConfig job) {
    this.job = job;
    peers = new SharedPeers(job.trainers());
    for (int s = 0; s < job.allShards(); s++) {
      shards.add(new ParameterShard(s, ShardLimits.defaults(), SystemClock.get()));
    }
    for (int r = 0; r < job.trainers(); r++) {
      sessions.add(new Session(r));
    }
  }

  /** Cuts the network: the session of each rank gets the heter worker of this function. */
  public SharedShards cut(IntFunction<RemoteCompute> worker) {
    remote = worker;
    return this;
  }

  /** The ranks' leaves will find a shard lost. */
  public void loseAtTheEnd() {
    lostAtTheEnd = true;
  }

  /**
   * Breaks the links of all ranks to the last shard at the push that follows this number of pushes.
   *
   * @param serves true if it still serves others
   */
  public void cutLast(long afterPushes, boolean serves) {
    serving = serves;
    pushesUntilCut = afterPushes;
  }

  private ShardLink link(ParameterShard shard) {
    LocalShardLink link = new LocalShardLink(shard);
    return shard != shards.get(shards.size() - 1) ? link : (ShardLink) Proxy.newProxyInstance(
        ShardLink.class.getClassLoader(), new Class<?>[] {ShardLink.class}, (proxy, method, args) -> {
          cut |= method.getName().equals("push") && --pushesUntilCut < 0;
          return cut && CompletionStage.class.isAssignableFrom(method.getReturnType())
              ? CompletableFuture.failedFuture(new PeerLost("the last shard is lost")) : method.invoke(link, args);
        });
  }

  public TrainerSession session(int rank) {
    return sessions.get(rank);
  }

  /** Runs the program on all ranks; results by rank. */
  public List<RunResult> run(TrainingProgram program) {
    for (Session s : sessions) {
      CompletableFuture<RunResult> result = new RankRun(s, program, Progress.none()).start();
      result.whenComplete((v, e) -> {
        if (e != null) {
          sessions.forEach(other -> other.awaiting.end(new Cancelled("another rank failed")));
        }
      });
      results.add(result);
    }
    try {
      return results.stream().map(CompletableFuture::join).toList();
    } catch (CompletionException e) {
      throw cause(e);
    }
  }

  /** Returns the cause: the failure of a rank that did not merely hear of another's failure. */
  private CompletionException cause(CompletionException first) {
    for (CompletableFuture<RunResult> result : results) {
      try {
        result.join();
      } catch (CompletionException e) {
        if (!(e.getCause() instanceof Cancelled)) {
          return e;
        }
      }
    }
    return first;
  }

  /** Floats that the ranks of a collective job have summed. */
  public long floatsSummed() {
    return peers.floats();
  }

  /** How the rank of {@link #run} ended. */
  public CompletableFuture<RunResult> result(int rank) {
    return results.get(rank);
  }

  public ParameterShard.JobStatus status(int shard) {
    return CompletableFuture.supplyAsync(() -> shards.get(shard).status(job.job()), owner).join();
  }

  /** Jobs that still have state on a shard. */
  public List<String> jobs(int shard) {
    return CompletableFuture.supplyAsync(() -> shards.get(shard).jobs(), owner).join();
  }

  @Override
  public void close() {
    owner.shutdownNow();
  }

  private final class Session implements TrainerSession, JobGroup, GatheredCalls.Meeting {
    private final TrainerId id;
    private final Awaiting awaiting = new Awaiting();
    private CompletableFuture<ParameterClient> connected;
    private OwnShards own;
    private RankOperations others;

    private final RankCalls calls;

    Session(int rank) {
      id = new TrainerId(rank, rank + 1);
      calls = new GatheredCalls(rank, this, this::await);
    }

    @Override
    public RankCalls calls() {
      return calls;
    }

    @Override
    public synchronized Optional<RankOperations> ranks() {
      return Optional.ofNullable(others);
    }

    @Override
    public CompletableFuture<Saving> save(SaveOrder order) {
      return own.save(order);
    }

    @Override
    public CompletableFuture<Boolean> restore(RestoreOrder order) {
      return own.restore(order);
    }

    @Override
    public void assign(DenseMemory flat) {
      own.assign(flat);
    }

    @Override
    public Optional<RemoteCompute> remote() {
      return Optional.ofNullable(remote.apply(id.rank()));
    }

    @Override
    public JobConfig job() {
      return job;
    }

    @Override
    public LoadedFeatures features() {
      return new LoadedFeatures(job());
    }

    @Override
    public TrainerId trainer() {
      return id;
    }

    @Override
    public int worldSize() {
      return job.trainers();
    }

    @Override
    public List<String> serverEndpoints() {
      return cut ? List.of("server") : List.of();
    }

    @Override
    public CompletableFuture<Set<Integer>> serving(Set<Integer> lost) {
      return CompletableFuture.completedFuture(serving ? lost : Set.of());
    }

    @Override
    public JobGroup group() {
      return this;
    }

    @Override
    public List<String> endpoints() {
      return List.of();
    }

    @Override
    public Sharding sharding() {
      return Sharding.common(shards.size());
    }

    @Override
    public synchronized CompletableFuture<ParameterClient> connect(Strategy strategy, ModelSpec model) {
      if (connected == null && strategy.mode() == Mode.COLLECTIVE) {
        own = new OwnShards(1, StepTrace.off());
        others = new RankOperations(SystemClock.get(), "trainer", peers.of(id.rank()), this::await);
        connected = own.connect(ownSpec(model));
      } else if (connected == null) {
        ParameterClient client = new ParameterClient(spec(strategy, model), id,
            shards.stream().map(SharedShards.this::link).toList(), owner);
        connected = client.register().thenApply(v -> client);
      }
      return connected;
    }

    @Override
    public synchronized Optional<ParameterClient> client() {
      return connected == null ? Optional.empty() : Optional.ofNullable(connected.getNow(null));
    }

    @Override
    public <M extends Message> CompletableFuture<List<M>> gather(String key, M mine) {
      return gathered(key, mine);
    }

    private <T> CompletableFuture<List<T>> gathered(String key, T mine) {
      CompletableFuture<List<T>> answer = new CompletableFuture<>();
      owner.execute(() -> {
        @SuppressWarnings("unchecked") // all ranks give the same type for a key
        Gather<T> g = (Gather<T>) gathers.computeIfAbsent(key, k -> new Gather<T>(new TreeMap<>(), new CompletableFuture<>()));
        g.values.put(id.rank(), mine);
        g.done.thenAccept(answer::complete);
        if (g.values.size() == job.trainers()) {
          g.done.complete(List.copyOf(g.values.values()));
        }
      });
      return answer;
    }

    @Override
    public CompletableFuture<GatheredCalls.Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues) {
      return gathered(key, slice).thenApply(all -> new GatheredCalls.Reduced(
          how.reduce(all.stream().map(DoubleBuffer::wrap).toList()),
          IntStream.range(0, all.size()).boxed().toList()));
    }

    @Override
    public <T> T await(String operation, CompletionStage<T> stage) {
      return awaiting.await(operation, stage);
    }

    @Override
    public void stepped(long step) {}

    @Override
    public CompletableFuture<Void> leave(boolean succeeded) {
      return lostAtTheEnd ? CompletableFuture.failedFuture(new PeerLost("shard 0 is lost"))
          : client().map(client -> client.leave(succeeded)).orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    @Override
    public Map<String, Long> serviceProcessIds() {
      return Map.of();
    }
  }
}
