package io.regatta.trainer;

import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.parameterserver.Shard;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * The question to servers whether shards to which this trainer has lost its links still serve: others may continue
 * there. Owned by the trainer's event loop.
 */
final class LivingShards {

  /** Longest time for a server's answer; one that is frozen or cut off does not answer at all. */
  private static final long ASK_MILLIS = 2000;

  private final Node node;
  private final ShardFinder.Found found;

  LivingShards(Node node, ShardFinder.Found found) {
    this.node = node;
    this.found = found;
  }

  /**
   * Returns a future of the shards, among the given ones, whose server answers for the incarnation that this trainer
   * knows. Never fails.
   */
  Future<Set<Integer>> of(Set<Integer> shards) {
    List<Future<List<Shard>>> asked = shards.stream().map(found::serverOf).distinct()
        .map(server -> shardsOf(found.servers().get(server))).toList();
    return Future.all(asked).map(all -> {
      Set<Integer> living = new TreeSet<>();
      asked.forEach(server -> server.result().stream().filter(shard -> shards.contains(shard.getIndex())
          && shard.getIncarnation() == found.shards().get(shard.getIndex()).getIncarnation())
          .forEach(shard -> living.add(shard.getIndex())));
      return living;
    });
  }

  private Future<List<Shard>> shardsOf(Directory.Instance server) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    return control.shardMap().timeout(ASK_MILLIS, TimeUnit.MILLISECONDS).map(map -> map.getShardsList())
        .otherwise(List.of()).eventually(control::close);
  }
}
