package io.regatta.fleet.simulation;

import com.google.protobuf.Empty;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.group.WorldSize;
import io.regatta.core.loop.Loop;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.VirtualTime;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.MemberContext;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.shard.CoreShardHandler;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.shard.ShardStreamSession;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreams;
import io.regatta.protocol.testing.SimulatedNetwork;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousGroups;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A rendezvous, shards and trainers in one thread and in virtual time: the protocol code of production over a simulated
 * network. One seed decides about delays, and about the order of what happens at the same time.
 */
final class SimulatedCluster {
  static final String RENDEZVOUS = "rendezvous";
  private static final int PORT = 1;
  private static final int SHORTEST_MICROS = 20;
  private static final int LONGEST_MICROS = 5_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  /** Virtual time within which every run ends. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  final VirtualTime time;
  final SimulatedNetwork network;
  final StreamOptions options = StreamOptions.defaults().withChunkBytes(4096);
  final List<ParameterShard> shards = new ArrayList<>();
  final List<Loop> shardLoops = new ArrayList<>();
  final Loop rendezvousLoop;
  final Directory.Instance rendezvous =
      new Directory.Instance(Directory.RENDEZVOUS, "simulated", 0, RENDEZVOUS, PORT, 1, Map.of());

  SimulatedCluster(long seed, int shardCount) {
    time = new VirtualTime(seed);
    network = new SimulatedNetwork(time, seed, SHORTEST_MICROS, LONGEST_MICROS, options);
    Loop loop = time.loop(RENDEZVOUS);
    rendezvousLoop = loop;
    RendezvousGroups groups = new RendezvousGroups(loop, Settings.defaults(RendezvousConfig.class));
    groups.bind(network.listen(loop, RENDEZVOUS, PORT));
    groups.start();
    for (int s = 0; s < shardCount; s++) {
      shards.add(shard(s));
    }
  }

  private ParameterShard shard(int index) {
    Loop loop = time.loop("shard " + index);
    shardLoops.add(loop);
    ParameterShard shard = new ParameterShard(index, ShardLimits.defaults(), loop.clock(), loop::defer);
    network.listen(loop, "shard-" + index, PORT).streams(StreamPaths.PARAMETER_SHARD,
        stream -> ShardStreamSession.serve(stream, new CoreShardHandler(shard), options));
    return shard;
  }

  /** Runs until a condition holds; fails if it can not any more, or takes longer than every run may. */
  void runUntil(BooleanSupplier condition) {
    time.runUntil(condition, LIMIT);
  }

  /** A trainer's seat and its client of all shards, on a loop of its own. */
  final class Rank {
    final Loop loop;
    final Network way;
    final GroupMembership membership;
    long lastStep = -1;
    private final int number;
    private ParameterClient client;

    Rank(String group, int number) {
      this.number = number;
      loop = time.loop("trainer " + number);
      way = network.of(loop);
      membership = new GroupMembership(new MemberContext(loop, way, new Waits(time, 10), "host-" + number, PATIENCE), rendezvous, group,
          "trainer", () -> lastStep, changed -> { }, why -> {
            throw new AssertionError("trainer " + number + " has lost its seat", why);
          });
    }

    /** Joins the job's group and registers at all shards. */
    Future<Void> enter(JobSpec job) {
      TensorStreams streams = way.streams();
      return membership.join("trainer " + number, WorldSize.fixed(job.trainers()), number, "simulated trainer " + number, "", PATIENCE)
          .compose(joined -> {
            List<Future<ShardLink>> links = new ArrayList<>();
            for (int s = 0; s < job.shards(); s++) {
              links.add(link(streams, s));
            }
            return Future.all(links).map(all -> new ArrayList<ShardLink>(all.list()));
          }).compose(links -> {
            client = new ParameterClient(job, new TrainerId(membership.rank(), membership.incarnation()), links, loop);
            return Future.fromCompletionStage(client.register());
          }).mapEmpty();
    }

    private Future<ShardLink> link(TensorStreams streams, int shard) {
      return ReopeningShardLink.open(loop, () -> streams.open("shard-" + shard, PORT, StreamPaths.PARAMETER_SHARD)
          .map(stream -> new GrpcShardLink(stream, "shard " + shard, shard, 0, membership::generation,
              job -> Future.failedFuture("not asked for here"), options)), options.maxRequests()).map(link -> link);
    }

    ParameterClient client() {
      return client;
    }

    /** Waits until all trainers have come here. */
    Future<Void> barrier(String key) {
      return membership.gather(key, Empty.getDefaultInstance()).mapEmpty();
    }
  }
}
