package io.regatta.trainer;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.ParameterServerControl;
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
 * For whom a blocked operation of one rank waits, found out when somebody asks ({@code /why}, or the line of a wait that
 * has become long): a barrier for the ranks that have not come, as the rendezvous knows; a push or pull for the shards
 * that owe an answer, and for those because of whom they hold it back, as the shards know. Any thread.
 */
final class WaitPeers {

  private static final Logger LOG = LoggerFactory.getLogger(WaitPeers.class);
  /** How long another process may take to say for whom it waits; then what this rank knows itself is shown. */
  private static final long ASK_MILLIS = 1000;

  private final Node node;
  private final JobConfig job;
  private final String self;
  private final ShardFinder.Found found;
  private final Function<String, Future<List<Peer>>> missing;
  private final Supplier<Optional<ParameterClient>> client;
  /** Keys of the gathers under way: model threads add them, the loop removes them. */
  private final Map<CompletionStage<?>, String> gathers = new ConcurrentHashMap<>();

  /**
   * @param self this rank as the shards name it, e.g. {@code trainer 1}
   * @param missing the members for whom the gather of this key still waits
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
   * For whom {@code stage} waits. What is no gather has been asked of the shards; or, of several model threads, it waits
   * for the one that gathers, pushes and pulls for all, and so for the same.
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

  /** Because of whom a server's shards hold back what they owe this rank; nobody if it does not say. */
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
