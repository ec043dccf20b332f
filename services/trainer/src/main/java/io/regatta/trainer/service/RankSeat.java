package io.regatta.trainer.service;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.directory.Directory;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;

/** One trainer's part in its job: taken, asked for its rank, and left. Owned by {@link TrainerVerticle}, on its event loop. */
interface RankSeat {

  /** How long each farewell may take, and model threads to find out that they are to end: who is frozen or gone is not waited for. */
  long FAREWELL_MILLIS = 1000;

  /**
   * Takes it, and waits for the others.
   *
   * @param rendezvous as the directory has it; null where the job meets over a store
   * @param who wants it, for messages
   * @param member what messages to others call this trainer
   */
  Future<Void> join(Directory.Instance rendezvous, String who, String member);

  /** Whether {@link #rank} can be asked: from {@link #join} on, or in an elastic job from its end. */
  boolean hasRank();

  /** In an elastic job, that of the generation now. */
  int rank();

  /** The session of the rank that has joined. Once. */
  OwnedSession session(ShardFinder.Found servers);

  /** What a user is told of it. */
  String joined();

  /**
   * Leaves in order, as far as it has come: shards, group, connections. Each farewell has its time. Once; never fails.
   *
   * @param succeeded whether this rank's run has ended with success
   */
  Future<Void> leave(boolean succeeded);

  static Future<Void> soon(Future<Void> farewell) {
    return farewell.timeout(FAREWELL_MILLIS, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }

  /** Of a trainer that is stopped while it takes its seat. */
  static Cancelled stopped(String who) {
    return new Cancelled(who + " was stopped while it started");
  }
}
