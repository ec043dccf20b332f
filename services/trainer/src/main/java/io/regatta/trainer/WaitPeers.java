package io.regatta.trainer;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.parameterserver.ParkedCall;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes for which a blocked operation of one rank waits, determined on request ({@code /why}, or the log line
 * of a long wait). A barrier waits for the ranks that have not arrived, as the rendezvous knows. A push or pull waits
 * for the shards that have not answered, and for the trainers for which they hold the answer back, as the shards know.
 * Any thread may use it.
 */
final class WaitPeers {

  private static final Logger LOG = LoggerFactory.getLogger(WaitPeers.class);
  /** Longest time for another process's answer; after it, only this rank's own knowledge is shown. */
  private static final long ASK_MILLIS = 1000;

  private final Node node;
  private final JobConfig job;
  private final String self;
  private final ShardFinder.Found found;
  private final Function<String, Future<List<Peer>>> missing;
  private final Supplier<Optional<ParameterClient>> client;
  /** Keys of the running gathers: model threads add them, the loop removes them. */
  private final Map<CompletionStage<?>, String> gathers = new ConcurrentHashMap<>();

  /**
   * Creates the wait peers of one rank.
   *
   * @param self name of this rank on the shards, e.g. {@code trainer 1}
   * @param missing returns the members for which the gather of a key still waits
   */
  WaitPeers(Node node, JobConfig job, String self, ShardFinder.Found found,
      Function<String, Future<List<Peer>>> missing, Supplier<Optional<ParameterClient>> client) {
    this.node = node;
    this.job = job;
    this.self = self;
    this.found = found;
    this.missing = missing;
    this.client = client;
  }

  /** Notes a gather until it completes. */
  <T> CompletableFuture<T> gathering(String key, CompletableFuture<T> gather) {
    gathers.put(gather, key);
    gather.whenComplete((value, error) -> gathers.remove(gather));
    return gather;
  }

  /**
   * Returns the processes for which {@code stage} waits. A stage that is not a gather is a request to the shards. Or it
   * is one of several model threads that wait for the one that gathers, pushes and pulls for all, and so for the same
   * processes.
   */
  Future<List<Peer>> of(CompletionStage<?> stage) {
    String gather = gathers.get(stage);
    SortedMap<Integer, String> shards =
        client.get().map(ParameterClient::unanswered).orElse(Collections.emptySortedMap());
    boolean servers = !found.servers().isEmpty();
    if (gather == null && servers && !shards.isEmpty()) {
      return shards(shards);
    }
    Optional<String> any = gather != null ? Optional.of(gather) : gathers.values().stream().findFirst();
    return any.map(this::members).orElseGet(() -> Future.succeededFuture(
        List.of(Peer.named(job.threads() > 1 ? "the other model threads of " + self : servers ? "the shards" : "the other trainers"))));
  }

  private Future<List<Peer>> members(String gather) {
    return missing.apply(gather).timeout(ASK_MILLIS, TimeUnit.MILLISECONDS)
        .recover(e -> Future.succeededFuture(
            List.of(Peer.named("the other trainers (which ones is not known: " + e.getMessage() + ")"))))
        .map(peers -> peers.isEmpty() ? List.of(Peer.named("the rendezvous")) : peers);
  }

  private Future<List<Peer>> shards(SortedMap<Integer, String> shards) {
    List<Future<List<Peer>>> behind = shards.keySet().stream().map(found::serverOf).distinct()
        .map(server -> behind(found.servers().get(server), shards)).toList();
    return Future.all(behind).map(all -> {
      List<Peer> peers = new ArrayList<>(shards.values().stream().map(Peer::named).toList());
      Map<String, Peer> trainers = new LinkedHashMap<>();
      behind.forEach(answer -> answer.result().forEach(peer -> trainers.merge(peer.name(), peer, WaitPeers::later)));
      peers.addAll(trainers.values());
      return peers;
    });
  }

  /**
   * Returns the trainers for which a server's shards hold back their answer to this rank; none if it does not answer.
   */
  private Future<List<Peer>> behind(Directory.Instance server, SortedMap<Integer, String> shards) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    return control.status(job.job()).timeout(ASK_MILLIS, TimeUnit.MILLISECONDS)
        .eventually(control::close)
        .map(status -> behind(status, shards))
        .recover(e -> {
          LOG.debug("parameter server at {} does not say for whom it waits: {}", server.endpoint(), e.toString());
          return Future.succeededFuture(List.of());
        });
  }

  private List<Peer> behind(StatusReply status, SortedMap<Integer, String> shards) {
    List<Peer> peers = new ArrayList<>();
    for (ShardStatus shard : status.getShardsList()) {
      for (ParkedCall call : shard.getParkedList()) {
        if (shards.containsKey(shard.getShard()) && call.getWho().equals(self)) {
          call.getWaitsForList().stream().filter(peer -> !peer.getName().equals(self))
              .forEach(peer -> peers.add(new Peer(peer.getName(), peer.getLastStep(), peer.getLastSeenMs())));
        }
      }
    }
    return peers;
  }

  private static Peer later(Peer a, Peer b) {
    return a.lastStep() >= b.lastStep() ? a : b;
  }
}
