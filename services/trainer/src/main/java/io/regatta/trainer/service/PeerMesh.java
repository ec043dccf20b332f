package io.regatta.trainer.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.group.Membership;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.session.PeerRanks;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

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
    CollectiveOptions options = CollectiveOptions.defaults().withStream(streams)
        .withFailureTimeout(job.collective().failureTimeoutMs());
    return CollectivePort.listen(node.vertx(), node.host(), options, node.waits())
        .compose(port -> group.gather(KEY, (group.generation() + " " + port.endpoint()).getBytes(UTF_8))
            .compose(told -> form(port, place(group.rank(), job.job(), job.trainers(), who,
                told.stream().map(ByteString::toStringUtf8).toList())))
            .recover(e -> port.close().transform(closed -> Future.failedFuture(e))));
  }

  /** @param told by rank: generation and endpoint; the highest generation is the one that they form, for all hear the same */
  private static io.regatta.collective.Membership place(int rank, String job, int trainers, String who, List<String> told) {
    if (told.size() < trainers) {
      throw new PeerLost(who + ": only " + told.size() + " of " + trainers + " trainers are left to exchange gradients with; start "
          + "the job again");
    }
    long generation = told.stream().mapToLong(line -> Long.parseLong(line.substring(0, line.indexOf(' ')))).max().orElseThrow();
    return new io.regatta.collective.Membership(job, generation, rank,
        told.stream().map(line -> line.substring(line.indexOf(' ') + 1)).toList());
  }

  @Override
  public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
    return collectives.allReduce(Tensor.of(floats).on(wire), ReduceOp.SUM).toCompletionStage().toCompletableFuture();
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
