package io.regatta.training.heter.part;

import io.regatta.training.replica.ReplicaContext;
import java.util.function.LongSupplier;

/**
 * The seeds of a replica's present batch.
 *
 * @param step returns the local steps made
 */
record ReplicaSeeds(ReplicaContext replica, LongSupplier step) {

  void set(BatchSeed.Place place) {
    int shardIndex = replica.session().trainer().rank() * replica.group().size() + replica.replica();
    BatchSeed.set(replica.session().job().seed(), shardIndex, step.getAsLong(), place);
  }
}
