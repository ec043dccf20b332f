package io.regatta.training.replica;

import io.regatta.core.exchange.Mode;
import io.regatta.training.session.TrainerSession;

/**
 * One replica's place within its rank, given to its {@code FleetTrainer}.
 *
 * @param session of the rank, shared by its replicas
 * @param group meeting point of the rank's replicas
 * @param replica number in [0, group.size())
 */
public record ReplicaContext(TrainerSession session, ReplicaGroup group, int replica) {

  /** The only replica of a rank. */
  public static ReplicaContext single(TrainerSession session) {
    return new ReplicaContext(session, new ReplicaGroup(1), 0);
  }

  /** Replicas that are merged push once in a step, others each for itself. */
  public int pushesPerStep(Mode mode) {
    return mode.mergesReplicas() ? 1 : group.size();
  }
}
