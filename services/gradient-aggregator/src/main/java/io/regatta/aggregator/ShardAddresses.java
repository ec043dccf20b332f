package io.regatta.aggregator;

import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.protocol.ParameterServerControl;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Finds shards: asks the parameter servers in the directory for their shard maps. Stateless; the caller's context. */
final class ShardAddresses {
  private final Vertx vertx;
  private final Directory directory;
  private final long lookupMillis;

  ShardAddresses(Vertx vertx, Directory directory, long lookupMillis) {
    this.vertx = vertx;
    this.directory = directory;
    this.lookupMillis = lookupMillis;
  }

  /**
   * The shard of this global index, where the trainers have it. A server that does not answer is passed over.
   *
   * @param incarnation what the trainers call its incarnation; 0 if they do not say, then the latest is taken
   * @return fails with {@link PeerLost} if no server that answers has it, and with {@link NotOwner} if those that have
   *     it are other incarnations: pulls and pushes would go to different places
   */
  Future<Shard> find(int index, long incarnation) {
    return directory.list(Directory.PARAMETER_SERVER).compose(servers -> {
      List<Future<Optional<Shard>>> asked = servers.stream().map(server -> ask(server, index)).toList();
      return Future.join(asked).map(all -> {
        List<Shard> found = asked.stream().flatMap(answer -> answer.result().stream()).toList();
        if (found.isEmpty()) {
          throw new PeerLost("no parameter server that answers has shard " + index + "; the directory names "
              + servers.stream().map(Instance::endpoint).toList());
        }
        return found.stream().filter(shard -> incarnation == 0 || shard.getIncarnation() == incarnation)
            .max(Comparator.comparingLong(Shard::getIncarnation))
            .orElseThrow(() -> new NotOwner("the trainers talk to incarnation " + incarnation + " of shard " + index
                + ", but what the aggregator finds is " + String.join(", ", found.stream().map(shard -> "incarnation "
                + shard.getIncarnation() + " at " + shard.getHost() + ":" + shard.getPort()).toList())
                + ": the server was started anew, or another one has its index; start the job again"));
      });
    });
  }

  private Future<Optional<Shard>> ask(Instance server, int index) {
    ParameterServerControl control = new ParameterServerControl(vertx, server.host(), server.controlPort());
    return control.shardMap().timeout(lookupMillis, TimeUnit.MILLISECONDS)
        .map(reply -> shard(reply, index))
        .otherwise(Optional.empty())
        .eventually(control::close);
  }

  private static Optional<Shard> shard(ShardMapReply reply, int index) {
    return reply.getShardsList().stream().filter(shard -> shard.getIndex() == index).findFirst();
  }
}
