package io.regatta.training.replica;

import io.regatta.core.exchange.Mode;
import io.regatta.training.session.TrainerSession;

/**
 * The position of one replica within its rank, given to its {@code FleetTrainer}. Immutable.
 *
 * @param session of the rank, shared by its replicas
 * @param group of the rank's replicas
 * @param replica number in [0, group.size())
 */
public record ReplicaContext(TrainerSession session, ReplicaGroup group, int replica) {

  /** Returns the context of the only replica of a rank. */
  public static ReplicaContext single(TrainerSession session) {
    return new ReplicaContext(session, new ReplicaGroup(1), 0);
  }

  /** Returns the pushes of a step: replicas that are merged push once, others each for itself. */
  public int pushesPerStep(Mode mode) {
    return mode.mergesReplicas() ? 1 : group.size();
  }
}
