package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.session.JobGroup;
import io.regatta.training.session.RankOperations;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A {@link JobGroup} on a cluster, with the operations of the trainer that joins and leaves it: {@link FixedGroup},
 * whose ranks stay, or {@link ElasticGroup}, whose ranks join and leave. Only {@link #of} makes this choice. Owned by
 * {@link TrainerVerticle}, on its event loop; the inherited methods may be called on any thread after {@link #begins}.
 */
interface TrainerGroup extends JobGroup {

  /**
   * Returns the group for a job.
   *
   * @param progress of the trainer, sent with its heartbeats
   * @param givenUp notified of the reason if the others remove this trainer
   * @param placed notified of each generation of an elastic job in which this trainer has a rank
   */
  static TrainerGroup of(Node node, Context context, TrainerConfig config, RankProgress progress,
      Consumer<Throwable> givenUp, Runnable placed) {
    return config.job().worldSize().elastic() ? new ElasticGroup(node, context, config, givenUp, placed)
        : new FixedGroup(node, context, config, progress, givenUp);
  }

  /**
   * Takes a rank, and waits for the others.
   *
   * @param rendezvous from the directory; null if the job uses a store
   * @param who name of this trainer, for messages
   * @param member name of this trainer in messages to others
   */
  Future<Void> join(Directory.Instance rendezvous, String who, String member);

  /**
   * Returns true if {@link #rank} may be called: after {@link #join} was called, or in an elastic job after it has
   * completed.
   */
  boolean hasRank();

  int rank();

  long generation();

  /** Returns the host of each trainer, by rank. */
  List<String> hosts();

  /** Returns the number of trainers, for users, e.g. {@code 2 trainers}. */
  String size();

  /**
   * Notes that this trainer has joined, and its model threads begin.
   *
   * @param waiting how these wait
   * @param peers finds the processes for which they wait
   */
  void begins(RankOperations.Waiting waiting, WaitPeers peers);

  /** Opens the streams to the other trainers for collective mode, once. */
  Future<RankOperations> meet();

  /** Returns the members for which the gather of this key still waits. */
  default Future<List<Peer>> missing(String key) {
    return Future.succeededFuture(List.of());
  }

  /** Exchanges examples; see {@link io.regatta.training.session.TrainerSession#exchange}. Any thread. */
  default CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return CompletableFuture.failedFuture(new InvalidInput("trainers of an elastic job do not exchange examples"));
  }

  /**
   * Leaves the group. Never fails.
   *
   * @param succeeded true if this rank's run has ended with success
   */
  Future<Void> leave(boolean succeeded);

  /** Ends the streams to the other trainers. Never fails. */
  Future<Void> closeStreams();
}
