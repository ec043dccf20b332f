package io.regatta.trainer.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.Membership;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.session.PeerRanks;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * The streams between the trainers of a collective job, for one of them: its port, and the collectives formed over it. Opened and
 * closed on the event loop of {@link TrainerVerticle}; called by the model thread.
 */
final class PeerMesh implements PeerRanks {

  private static final String KEY = "collective endpoints";

  private final CollectivePort port;
  private final io.regatta.collective.Membership place;
  private final Collectives collectives;

  private PeerMesh(CollectivePort port, io.regatta.collective.Membership place, Collectives collectives) {
    this.port = port;
    this.place = place;
    this.collectives = collectives;
  }

  private static Future<PeerMesh> form(CollectivePort port, io.regatta.collective.Membership place) {
    return port.form(place).map(collectives -> new PeerMesh(port, place, collectives));
  }

  /**
   * Tells the others, through the rendezvous, where this rank is reached, and opens a stream to each of them.
   *
   * @param group that this trainer has joined
   * @param job all of whose trainers must come
   * @param who for messages
   */
  static Future<PeerMesh> open(Node node, StreamOptions streams, Membership group, JobConfig job, String who) {
    return aggregators(node, group, job, who).compose(aggregators -> MeshOptions.read(node, streams, job)
        .compose(options -> CollectivePort.listen(node, options.withStartTimeout(node.config().readyTimeout().toMillis())))
        .compose(port -> group.gather(KEY, (group.generation() + " " + port.endpoint() + aggregators).getBytes(UTF_8))
            .compose(told -> form(port, place(group.rank(), job.job(), job.trainers(), who,
                told.stream().map(ByteString::toStringUtf8).toList())))
            .recover(e -> port.close().transform(closed -> Future.failedFuture(e)))));
  }

  /** Those that rank 0 sees sum for all ranks: each endpoint behind a space. */
  private static Future<String> aggregators(Node node, Membership group, JobConfig job, String who) {
    if (!job.aggregator() || group.rank() > 0 || job.trainers() == 1) {
      return Future.succeededFuture("");
    }
    return node.directory().awaitAny(Directory.GRADIENT_AGGREGATOR, node.config().readyTimeout(), who)
        .map(found -> {
          Map<String, String> byHost = new TreeMap<>(); // of each the latest: one that has died may still stand there
          Directory.latestFirst(found).forEach(of -> byHost.putIfAbsent(of.host(), of.endpoint()));
          return byHost.values().stream().map(endpoint -> " " + endpoint).collect(Collectors.joining());
        });
  }

  /**
   * @param told by rank: generation and endpoint, of rank 0 the aggregators' endpoints too; the highest generation is the one that
   *     they form, for all hear the same
   */
  static io.regatta.collective.Membership place(int rank, String job, int trainers, String who, List<String> told) {
    if (told.size() < trainers) {
      throw new PeerLost(who + ": only " + told.size() + " of " + trainers + " trainers are left to exchange gradients with; start "
          + "the job again");
    }
    List<List<String>> words = told.stream().map(line -> List.of(line.split(" "))).toList();
    long generation = words.stream().mapToLong(of -> Long.parseLong(of.get(0))).max().orElseThrow();
    List<String> first = words.get(0);
    List<String> endpoints = words.stream().map(of -> of.get(1)).toList();
    checkReachable(who, endpoints);
    return new io.regatta.collective.Membership(job, generation, rank, endpoints, first.subList(2, first.size()));
  }

  /** Said by all at once, where else some would wait for streams that nobody can open. */
  private static void checkReachable(String who, List<String> endpoints) {
    for (int other = 1; other < endpoints.size(); other++) {
      if (PublishedAddress.loopbackApart(endpoints.get(0), endpoints.get(other))) {
        throw new Conflict(who + ": trainer 0 publishes " + endpoints.get(0) + " to the others, and trainer " + other + " "
            + endpoints.get(other) + ": on loopback nobody on another machine can reach a trainer. Configure the host to publish of "
            + "the one on loopback (node.cluster.address, or node.host)");
      }
    }
  }

  @Override
  public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
    return collectives.allReduce(Tensor.of(floats).on(wire), ReduceOp.SUM).toCompletionStage().toCompletableFuture();
  }

  @Override
  public CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    Tensor tensor = Tensor.of(memory, from, to).on(wire).watched();
    return collectives.allReduce(tensor, ReduceOp.SUM).map(summed -> tensor.isKnownFinite()).toCompletionStage()
        .toCompletableFuture();
  }

  @Override
  public TensorMemory memory(int bytes) {
    return place.onHost() > 1 ? port.memory(bytes) : TensorMemory.direct(bytes);
  }

  @Override
  public CompletableFuture<Void> gather(long[] parts) {
    return collectives.allGather(Tensor.of(parts)).toCompletionStage().toCompletableFuture();
  }

  @Override
  public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
    return collectives.broadcast(Tensor.of(floats), root).toCompletionStage().toCompletableFuture();
  }

  @Override
  public CompletableFuture<PeerRanks> apart(String name) {
    return form(port, new io.regatta.collective.Membership(place.group() + "/" + name, place.generation(), place.rank(),
        place.endpoints())).<PeerRanks>map(mesh -> mesh).toCompletionStage().toCompletableFuture();
  }

  /** Ends calls under way, here and at the others; those apart as well. */
  Future<Void> close() {
    return collectives.close().transform(closed -> port.close());
  }
}
