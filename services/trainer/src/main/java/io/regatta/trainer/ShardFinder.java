package io.regatta.trainer;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.Sharding;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.network.NoResponseException;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The search for a job's servers in the directory, and for their shards. Owned by {@link TrainerVerticle}, on its event
 * loop.
 */
final class ShardFinder {

  /**
   * The servers of a job.
   *
   * @param servers by index, from 0
   * @param shards by global index, from 0
   * @param sharding of dense parts and rows
   * @param processIds process ids of the services that the directory lists, e.g. {@code parameter-server-0},
   *     {@code rendezvous}
   */
  record Found(List<Directory.Instance> servers, List<Shard> shards, Sharding sharding, Map<String, Long> processIds) {

    /** Returns the index of the server that has this shard. */
    int serverOf(int shard) {
      return shard / Math.max(1, shards.size() / servers.size());
    }
  }

  private final Node node;
  private final Directory directory;
  private final JobConfig job;
  private final Duration timeout;
  /** Requests to the servers, answered or not. */
  private final List<RepeatedCall<?>> asked = new ArrayList<>();

  ShardFinder(Node node, JobConfig job, Duration timeout) {
    this.node = node;
    this.directory = node.directory();
    this.job = job;
    this.timeout = timeout;
  }

  /** Waits for all servers of the job, one for each index, and reads their shard maps; a collective job has none. */
  Future<Found> find(String who) {
    if (job.servers() == 0) {
      return processIds(List.of()).map(processIds -> new Found(List.of(), List.of(), Sharding.common(0), processIds));
    }
    return directory.await(Directory.PARAMETER_SERVER, job.servers(), timeout, who).compose(servers -> {
      List<Future<ShardMapReply>> maps = servers.stream().map(server -> shardMap(server, servers, who)).toList();
      return Future.all(maps).compose(all -> processIds(servers)
          .map(processIds -> {
            List<Shard> shards = shards(servers, all.list(), who);
            return new Found(servers, shards, sharding(servers, all.list(), who), processIds);
          }));
    });
  }

  private Future<Map<String, Long>> processIds(List<Directory.Instance> servers) {
    Future<List<Directory.Instance>> rendezvous = directory.list(Directory.RENDEZVOUS);
    Future<List<Directory.Instance>> aggregators = directory.list(Directory.GRADIENT_AGGREGATOR);
    return Future.all(rendezvous, aggregators).map(listed -> {
      Map<String, Long> processIds = new TreeMap<>();
      servers.forEach(s -> putProcessId(processIds, s.service() + "-" + s.index(), s));
      Directory.latestFirst(rendezvous.result()).stream().findFirst()
          .ifPresent(r -> putProcessId(processIds, r.service(), r));
      if (job.aggregator()) {
        aggregators.result().forEach(a -> putProcessId(processIds, a.service() + "-" + a.host(), a));
      }
      return processIds;
    });
  }

  private static void putProcessId(Map<String, Long> processIds, String name, Directory.Instance of) {
    String pid = of.attributes().get(Directory.PID);
    if (pid != null) {
      processIds.put(name, Long.parseLong(pid));
    }
  }

  /**
   * Requests the shard map, and tells the server its index: a server that was started without one takes it. The request
   * is repeated while no connection to the server is made.
   */
  private Future<ShardMapReply> shardMap(Directory.Instance server, List<Directory.Instance> servers, String who) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    ShardMapRequest known = ShardMapRequest.newBuilder().addAllServers(servers.stream().map(Directory.Instance::endpoint).toList())
        .setServerIndex(server.index()).setTrainers(job.trainers()).build();
    RepeatedCall<ShardMapReply> call = new RepeatedCall<>(VertxLoop.current(node.vertx()), node.waits(), new RepeatedCall.Words(who,
        "request for the shard map", "server " + server.index() + " at " + server.endpoint()), timeout, NoResponseException::isBeforeSending,
        () -> control.shardMap(known));
    asked.add(call);
    return call.start().eventually(control::close);
  }

  /** Cancels the requests: the trainer is being stopped. */
  void giveUp(RegattaException why) {
    asked.forEach(call -> call.giveUp(why));
  }

  private static List<Shard> shards(List<Directory.Instance> servers, List<ShardMapReply> maps, String who) {
    Map<Integer, Shard> byIndex = new TreeMap<>();
    for (ShardMapReply map : maps) {
      map.getShardsList().forEach(s -> byIndex.put(s.getIndex(), s));
    }
    int count = maps.stream().mapToInt(ShardMapReply::getShardsCount).sum();
    for (int index = 0; index < count; index++) {
      if (!byIndex.containsKey(index)) {
        throw new InvalidInput(who + ": the servers " + servers.stream().map(Directory.Instance::endpoint).toList()
            + " together have shards " + byIndex.keySet() + ", but shard " + index
            + " is missing; start all servers with the same number of shards");
      }
    }
    return List.copyOf(byIndex.values());
  }

  /**
   * Returns the sharding of the servers, which must all have the same, or the job's tables would be placed differently
   * from theirs. If the job gives a number of shards for sparse tables, the servers must have it.
   */
  private Sharding sharding(List<Directory.Instance> servers, List<ShardMapReply> maps, String who) {
    ShardMapReply first = maps.get(0);
    for (int i = 0; i < maps.size(); i++) {
      ShardMapReply map = maps.get(i);
      boolean same = map.getShardsCount() == first.getShardsCount() && map.getSparseShards() == first.getSparseShards();
      if (!same && (first.getSparseShards() > 0 || map.getSparseShards() > 0)) {
        throw new InvalidInput(who + ": the server " + servers.get(0).endpoint() + " has " + numbers(first) + ", but "
            + servers.get(i).endpoint() + " has " + numbers(map) + "; start all servers with the same numbers");
      }
      int sparse = job.sparseShards();
      if (sparse >= 0 && (map.getShardsCount() != job.shards() || map.getSparseShards() != sparse)) {
        throw new Conflict(who + ": the server " + servers.get(i).endpoint() + " has " + numbers(map)
            + ", but this trainer's job has " + numbers(job.shards(), sparse) + ": give the same numbers on both sides");
      }
    }
    int shards = maps.stream().mapToInt(ShardMapReply::getShardsCount).sum();
    return new Sharding(shards, first.getShardsCount(), first.getSparseShards());
  }

  private static String numbers(ShardMapReply map) {
    return numbers(map.getShardsCount(), map.getSparseShards());
  }

  /** Returns the numbers by our keys, and by those of PaddlePaddle v2 for users of these. */
  private static String numbers(int shards, int sparse) {
    return "shards: " + shards + ", sparse_shards: " + sparse + " (v2's ports_num " + (shards - sparse) + ", ports_num_for_sparse " + sparse
        + ")";
  }
}
