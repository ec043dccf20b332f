package io.regatta.heterworker;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.TrainerId;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.settings.StreamConfig;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.HeterLink;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.WorkerLoad;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Heter workers with stand-ins for their part, a rendezvous, and links of trainers, on free ports of one Vertx. */
final class RunningWorkers implements AutoCloseable {

  static final JobConfig JOB = JobConfig.of(new JsonObject().put("job", "pair").put("trainers", 2).put("seed", 7)
      .put("heter", new JsonObject().put("workers", 1).put("max_batch", 100)));
  /** Longer than anybody here is silent. */
  private static final long LEASE_MILLIS = 60_000;

  /** A trainer's link to one heter worker. */
  final class Trainer {
    final TrainerId id;
    final List<WorkerLoad> loads = new CopyOnWriteArrayList<>();
    private final TensorStream stream;
    private final HeterLink link;

    private Trainer(HeterWorkerVerticle worker, TrainerId id, StreamOptions options) {
      this.id = id;
      TensorStreamClient streams = get(on(() -> Future.succeededFuture(new TensorStreamClient(vertx, options))));
      clients.add(streams);
      stream = get(on(() -> streams.open("127.0.0.1", worker.port(), StreamPaths.HETER_COMPUTE)));
      link = get(on(() -> Future.succeededFuture(new HeterLink(stream, "heter worker", JOB.job(), id, () -> 1, options)
          .onLoad(loads::add))));
    }

    Future<CutOpened> open(CutOpen open) {
      return stage(() -> link.open(open));
    }

    Future<ComputedBatch> compute(BatchToCompute batch) {
      return stage(() -> link.compute(batch));
    }

    Future<ComputedBatch> compute(long number, int examples) {
      return compute(TestBatches.batch(id, 0, number, examples, number));
    }

    Future<Void> close(boolean succeeded) {
      return stage(() -> link.close(succeeded));
    }

    /** Cuts the stream off, as the death of the trainer does. */
    void die() {
      get(on(() -> {
        stream.sever();
        return Future.succeededFuture();
      }));
    }

    private <T> Future<T> stage(Supplier<CompletionStage<T>> call) {
      return on(() -> Future.fromCompletionStage(call.get()));
    }
  }

  /** A trainer's membership in the job's group. */
  final class Member {
    final TrainerId id;
    private final JoinReply joined;

    private Member(JoinReply joined) {
      this.joined = joined;
      id = new TrainerId(joined.getRank(), joined.getIncarnation());
    }

    void leave(boolean succeeded) {
      get(rendezvous.leave(JOB.job(), id.rank(), id.incarnation(), joined.getSecret(), true, succeeded));
    }
  }

  final Vertx vertx = Vertx.vertx();
  final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  final Node node;
  private final StreamOptions options;
  private final StreamConfig config;
  private final Context owner = vertx.getOrCreateContext();
  /** Clients of the trainers: each has a connection of its own. */
  private final List<TensorStreamClient> clients = new ArrayList<>();
  private final RendezvousClient rendezvous;

  /** @param settings of the node: TLS and token of all ports and of the trainers */
  RunningWorkers(Transport transport, long leaseMillis, NodeConfig settings) {
    node = get(Node.embedded(vertx, directory, settings, "test"));
    options = node.streams(StreamOptions.defaults().withTransport(transport).withChunkBytes(1024));
    config = StreamConfig.defaults().withTransport(transport).withChunkBytes(1024);
    RendezvousVerticle verticle = new RendezvousVerticle(node, RendezvousConfig.defaults().with(c -> c.leaseMs(leaseMillis).tickMs(20)));
    get(vertx.deployVerticle(verticle));
    rendezvous = new RendezvousClient(node.network(), "127.0.0.1", verticle.port());
  }

  RunningWorkers(Transport transport, long leaseMillis) {
    this(transport, leaseMillis, NodeConfig.defaults());
  }

  RunningWorkers() {
    this(Transport.AUTO, LEASE_MILLIS);
  }

  HeterWorkerConfig config(int index) {
    return new HeterWorkerConfig(JOB, index).withStream(config);
  }

  HeterWorkerVerticle worker(HeterWorkerConfig of, PartStandIn part) {
    return new HeterWorkerVerticle(node, of, program -> { }, (host, index) -> part.on(host));
  }

  /** Starts a heter worker of any index. */
  HeterWorkerVerticle started(PartStandIn part) {
    HeterWorkerVerticle worker = worker(config(-1), part);
    get(vertx.deployVerticle(worker));
    return worker;
  }

  Trainer trainer(HeterWorkerVerticle worker, TrainerId id) {
    return new Trainer(worker, id, options);
  }

  /** A trainer with another certificate or token than the heter worker's. */
  Trainer trainer(HeterWorkerVerticle worker, TrainerId id, PeerSecurity security) {
    return new Trainer(worker, id, options.withSecurity(security));
  }

  /** A trainer whose cut is open. */
  Trainer opened(HeterWorkerVerticle worker, TrainerId id) {
    Trainer trainer = trainer(worker, id);
    get(trainer.open(cut().build()));
    return trainer;
  }

  /** Registers a trainer for shard 0, which does not exist. */
  Future<Long> register(HeterWorkerVerticle worker, TrainerId id, JobSpec spec) {
    TensorStreamClient streams = get(on(() -> Future.succeededFuture(new TensorStreamClient(vertx, options))));
    clients.add(streams);
    return on(() -> streams.open("127.0.0.1", worker.port(), StreamPaths.HETER_EXCHANGE).compose(stream -> {
      GrpcShardLink link = new GrpcShardLink(stream, "heter worker", 0, 1, () -> 1, name -> Future.failedFuture("no shard"), options);
      return Future.fromCompletionStage(link.register(spec, id, 0));
    }));
  }

  static CutOpen.Builder cut() {
    return CutOpen.newBuilder().setSignature(TestBatches.OWN).setSeed(JOB.seed()).setHome(true);
  }

  /** Both trainers join the job's group. */
  List<Member> members() {
    List<Future<JoinReply>> joins = new ArrayList<>();
    for (int rank = 0; rank < JOB.trainers(); rank++) {
      joins.add(rendezvous.join(JOB.job(), JOB.trainers(), rank, "trainer-" + rank, "", 10_000));
    }
    return joins.stream().map(join -> new Member(get(join))).toList();
  }

  <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    owner.runOnContext(v -> {
      try {
        call.get().onComplete(promise);
      } catch (RuntimeException | AssertionError e) {
        promise.fail(e);
      }
    });
    return promise.future();
  }

  @Override
  public void close() {
    clients.forEach(client -> get(client.close()));
    get(rendezvous.close());
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }
}
