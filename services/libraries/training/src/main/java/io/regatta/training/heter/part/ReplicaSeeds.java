package io.regatta.training.heter.part;

import io.regatta.training.replica.ReplicaContext;
import java.util.function.LongSupplier;

/**
 * The seeds of a replica's present batch.
 *
 * @param step returns the local steps made
 */
record ReplicaSeeds(ReplicaContext replica, LongSupplier step) {

  void set(BatchSeed.PassPhase phase) {
    BatchSeed.set(replica.session().job().seed(), replica.session().trainer().rank(), replica.group().size(),
        replica.replica(), step.getAsLong(), phase);
  }
}
