package io.regatta.trainer.service;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.trainer.config.TrainerConfig;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.Parcel;
import io.regatta.trainer.session.JobGroup;
import io.regatta.trainer.session.RankOperations;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A {@link JobGroup} on a cluster, as the trainer has it that joins it and leaves it: {@link FixedGroup}, whose ranks
 * stay, or {@link ElasticGroup}, whose ranks come and go. This choice is made here alone. Owned by {@link
 * TrainerVerticle}, on its event loop; what it inherits may be asked on any thread once it {@link #begins}.
 */
interface TrainerGroup extends JobGroup {

  /**
   * Returns the group that a job asks for.
   *
   * @param progress of the trainer, told with its heartbeats
   * @param givenUp notified of the reason if this trainer is given up by the others
   * @param placed notified of each generation of an elastic job that this trainer has a rank in
   */
  static TrainerGroup of(Node node, Context context, TrainerConfig config, RankProgress progress,
      Consumer<Throwable> givenUp, Runnable placed) {
    return config.job().worldSize().elastic() ? new ElasticGroup(node, context, config, givenUp, placed)
        : new FixedGroup(node, context, config, progress, givenUp);
  }

  /**
   * Takes a rank, and waits for the others.
   *
   * @param rendezvous as the directory has it; null where the job meets over a store
   * @param who wants it, for messages
   * @param member what messages to others call this trainer
   */
  Future<Void> join(Directory.Instance rendezvous, String who, String member);

  /** Whether {@link #rank} can be asked: from {@link #join} on, or in an elastic job from its end. */
  boolean hasRank();

  int rank();

  long generation();

  /** Host of each trainer, by rank. */
  List<String> hosts();

  /** How many trainers there are, for users, e.g. {@code 2 trainers}. */
  String size();

  /**
   * This trainer has joined, and its model threads begin.
   *
   * @param waiting how these wait
   * @param peers finds out for whom
   */
  void begins(RankOperations.Waiting waiting, WaitPeers peers);

  /** Opens the streams to the other trainers for collective mode, once. */
  Future<RankOperations> meet();

  /** Asks for the members for whom the gather of this key still waits. */
  default Future<List<Peer>> missing(String key) {
    return Future.succeededFuture(List.of());
  }

  /** Exchanges examples: {@link io.regatta.trainer.session.TrainerSession#exchange}. Any thread. */
  default CompletableFuture<List<List<Parcel>>> exchange(String key, Layout layout, List<List<Parcel>> outgoing) {
    return CompletableFuture.failedFuture(new InvalidInput("trainers that come and go do not exchange examples"));
  }

  /**
   * Gives the rank up. Never fails.
   *
   * @param succeeded whether this rank's run has ended with success
   */
  Future<Void> leave(boolean succeeded);

  /** Ends the streams to the other trainers. Never fails. */
  Future<Void> closeStreams();
}
