package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException;
import io.regatta.core.group.WorldSize;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.GroupNames;
import io.regatta.node.group.MemberContext;
import io.regatta.protocol.client.ParameterServerControl;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's place among the servers: its index, and an incarnation that grows with every start. Owned by the
 * verticle's event loop. The index is configured, or given by the rendezvous, to which this server then sends
 * heartbeats until it leaves. In both cases the directory accepts only one server for an index.
 *
 * @param group the seat at the rendezvous; null: the index is configured
 */
record ServerSeat(int index, long incarnation, GroupMembership group) {

  /** How long another server with this index may take to answer before its place is taken. */
  private static final long ANSWER_MILLIS = 2000;
  private static final Logger LOG = LoggerFactory.getLogger(ServerSeat.class);

  /**
   * Returns a seat with the configured index, if there is one; else waits for the rendezvous and for the other servers.
   *
   * @param lost called once if the rendezvous gives the index away, with what to do about it
   */
  static Future<ServerSeat> take(Node node, ParameterServerConfig config, String member, String endpoint,
      Consumer<String> lost) {
    if (config.index() >= 0) {
      return Future.succeededFuture(new ServerSeat(config.index(), node.clock().epochMillis(), null));
    }
    Duration timeout = node.config().readyTimeout();
    String who = "parameter server at " + endpoint;
    return node.directory().awaitAny(Directory.RENDEZVOUS, timeout, who).compose(found -> {
      GroupMembership group = new GroupMembership(MemberContext.of(node), found.get(0), GroupNames.PARAMETER_SERVERS, Directory.PARAMETER_SERVER, () -> -1,
          changed -> { }, why -> lost.accept(givenUp(endpoint, why)));
      return group.join(who, WorldSize.fixed(config.servers()), -1, member, endpoint, timeout)
          .map(joined -> {
            LOG.info("parameter server has index {} of {}", group.rank(), config.servers());
            return new ServerSeat(group.rank(), Math.max(node.clock().epochMillis(), group.incarnation()), group);
          })
          .recover(e -> group.leave().transform(left -> Future.failedFuture(e)));
    });
  }

  /**
   * Publishes a server in this seat, which must be free: one index may be configured here and given there.
   *
   * @return fails with {@link io.regatta.core.error.RegattaException.Conflict} if another server answers under it
   */
  Future<Registration> register(Node node, Directory.Instance server) {
    return node.directory().registerSole(server, other -> answers(node, other), "give each server an index of its own, "
        + "or none of them any (parameter_server.index), or end that one");
  }

  /** Returns whether a server answers; another process that now listens on that port does not count. */
  private static Future<Boolean> answers(Node node, Directory.Instance other) {
    ParameterServerControl control = new ParameterServerControl(node.network(), other.host(), other.controlPort());
    return control.shardMap().timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
        .map(map -> map.getServerIndex() == other.index()
            && map.getShardsList().stream().allMatch(shard -> shard.getIncarnation() == other.incarnation()))
        .eventually(control::close);
  }

  private static String givenUp(String endpoint, RegattaException why) {
    String text = "parameter server at " + endpoint + " has lost its index: it serves the jobs that it has, but start it "
        + "again before the next one: " + why.getMessage();
    LOG.error(text);
    return text;
  }

  /** Gives the index back. */
  Future<Void> leave() {
    return group == null ? Future.succeededFuture() : group.leave();
  }
}
