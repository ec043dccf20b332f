package io.regatta.node.directory;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.vertx.core.Future;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The look-up of shards: asks the parameter servers in the directory for their shard maps, each once at a time, for any
 * number of trainers and shards. Owned by one event loop: that of the service that stands between them.
 */
public final class ShardAddresses {

  /** Most reasons for a missing shard in a message. */
  private static final int REASONS = 3;

  /**
   * The servers' answers: the servers in the directory, the shards of those that answered, and the failures of the
   * others.
   */
  private record Answers(List<Instance> servers, List<Shard> shards, List<RegattaException> failures) {}

  private final Directory directory;
  private final Network network;
  private final long lookupMillis;
  /** The requests under way; null: none. */
  private Future<Answers> asking;

  /**
   * Creates the look-up.
   *
   * @param network the way to the servers
   * @param lookupMillis longest time for a server's answer
   */
  public ShardAddresses(Directory directory, Network network, long lookupMillis) {
    this.network = network;
    this.directory = directory;
    this.lookupMillis = lookupMillis;
  }

  /**
   * Finds the shard of this global index, as the trainers know it. A server that does not answer is skipped.
   *
   * @param incarnation of the shard according to the trainers; 0 if they do not name it, then the latest is taken
   * @return fails with {@link PeerLost} if no server that answers has it, with {@link InvalidInput} if one of the
   *     others refuses to answer, as for a token that is missing here, and with {@link NotOwner} if only other
   *     incarnations are found: pulls and pushes would go to different places
   */
  public Future<Shard> find(int index, long incarnation) {
    boolean begunBefore = asking != null;
    Future<Shard> found = ask().map(answers -> pick(answers, index, incarnation));
    // a server may have come since those requests; a round that is under way afterwards began later than this
    return begunBefore ? found.recover(e -> ask().map(answers -> pick(answers, index, incarnation))) : found;
  }

  private Future<Answers> ask() {
    if (asking != null) {
      return asking;
    }
    Future<Answers> round = directory.list(Directory.PARAMETER_SERVER).compose(servers -> {
      List<Future<List<Shard>>> maps = servers.stream().map(this::shards).toList();
      return Future.join(maps).transform(all -> Future.succeededFuture(new Answers(servers,
          maps.stream().filter(Future::succeeded).flatMap(map -> map.result().stream()).toList(),
          maps.stream().filter(Future::failed).map(map -> (RegattaException) map.cause()).toList())));
    });
    asking = round;
    round.onComplete(done -> asking = null);
    return round;
  }

  private Future<List<Shard>> shards(Instance server) {
    ParameterServerControl control = new ParameterServerControl(network, server.host(), server.controlPort());
    return control.shardMap().timeout(lookupMillis, TimeUnit.MILLISECONDS)
        .map(ShardMapReply::getShardsList)
        .recover(e -> Future.failedFuture(e instanceof RegattaException ? e
            : new PeerLost("the parameter server at " + server.endpoint() + " does not answer: " + e.getMessage(), e)))
        .eventually(control::close);
  }

  private static Shard pick(Answers answers, int index, long incarnation) {
    List<Shard> found = answers.shards().stream().filter(shard -> shard.getIndex() == index).toList();
    if (found.isEmpty()) {
      List<RegattaException> failures = answers.failures().stream()
          .sorted(Comparator.comparing(e -> !(e instanceof InvalidInput))).limit(REASONS).toList(); // refusals first
      String said = "no parameter server that answers has shard " + index + "; the directory names "
          + answers.servers().stream().map(Instance::endpoint).toList()
          + failures.stream().map(e -> "; " + e.getMessage()).collect(Collectors.joining());
      boolean refused = !failures.isEmpty() && failures.get(0) instanceof InvalidInput;
      throw refused ? new InvalidInput(said, failures.get(0)) : new PeerLost(said);
    }
    return found.stream().filter(shard -> incarnation == 0 || shard.getIncarnation() == incarnation)
        .max(Comparator.comparingLong(Shard::getIncarnation))
        .orElseThrow(() -> new NotOwner("the trainers talk to incarnation " + incarnation + " of shard " + index
            + ", but what is found here is " + String.join(", ", found.stream().map(shard -> "incarnation "
            + shard.getIncarnation() + " at " + shard.getHost() + ":" + shard.getPort()).toList())
            + ": the server was restarted, or another one has its index; start the job again"));
  }
}
