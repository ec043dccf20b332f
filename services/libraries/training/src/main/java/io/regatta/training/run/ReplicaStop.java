package io.regatta.training.run;

import io.regatta.core.error.RegattaException.PeerLost;

/**
 * The stop of a rank's replica 0 when another replica has lost a peer: replica 0 need not meet that loss itself, and
 * the remaining model is saved after its failure. Shared by the model threads; its lock is held for nothing that waits.
 */
final class ReplicaStop {

  /** Model thread of replica 0 while its run may be stopped; null before and after. */
  private Thread first;
  /** The first loss that another replica has met, or null. */
  private PeerLost loss;

  /** Replica 0 begins its run, on the calling thread. */
  synchronized void begin() {
    first = Thread.currentThread();
    if (loss != null) {
      first.interrupt();
    }
  }

  /** Interrupts replica 0 in what it waits for, now or next. Called by a replica that has lost a peer. */
  synchronized void stop(PeerLost why) {
    if (loss == null) {
      loss = why;
      if (first != null) {
        first.interrupt();
      }
    }
  }

  /**
   * Checks that no replica has lost a peer, before what the rank does once at its end.
   *
   * @throws PeerLost the loss
   */
  synchronized void check() {
    if (loss != null) {
      throw loss;
    }
  }

  /** Ends the run of replica 0 on its own thread, which is not interrupted from here any more. May be repeated. */
  synchronized void end() {
    first = null;
  }

  /**
   * Ends the run of replica 0 with a failure.
   *
   * @return the loss because of which it was stopped; the given failure if it was not, or has met a loss itself
   */
  synchronized Exception failed(Exception why) {
    end();
    if (loss == null) {
      return why;
    }
    Thread.interrupted(); // calls to save what is left may wait again
    if (why instanceof PeerLost) {
      return why;
    }
    loss.addSuppressed(why);
    return loss;
  }
}
