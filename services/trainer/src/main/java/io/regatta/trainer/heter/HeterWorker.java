package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.heter.HeterLink;
import io.regatta.protocol.tensor.CutOpened;
import io.regatta.protocol.tensor.WorkerLoad;
import java.util.HashSet;
import java.util.Set;

/** One heter worker as a trainer knows it. Owned by the loop of {@link HeterWorkers}. */
final class HeterWorker {
  final Directory.Instance at;
  final String name;
  /** Null until the stream is open. */
  HeterLink link;
  /** Its last answer to an open; null: none. */
  CutOpened opened;
  /** Replicas for which it has agreed to what crosses the cut. */
  final Set<Integer> agreed = new HashSet<>();
  /** Number of its opens without an answer. */
  int opening;
  /** True once it has agreed for all replicas that were opened before. */
  boolean ready;
  /** True once it is not used any more. */
  boolean gone;
  WorkerLoad load = WorkerLoad.newBuilder().setHighestRank(-1).build();

  HeterWorker(Directory.Instance at) {
    this.at = at;
    name = "heter worker " + at.index() + " at " + at.endpoint();
  }

  int index() {
    return at.index();
  }

  int trainers() {
    return load.getTrainers();
  }

  /** Returns true if a worker with this error may serve later, and another one now: it is lost, or has no room. */
  static boolean isTemporary(Throwable why) {
    return why instanceof PeerLost || why instanceof Overloaded;
  }
}
