package io.regatta.training.run;

import io.regatta.core.error.RegattaException.PeerLost;

/**
 * The stop of a rank's replica 0 when another replica has lost a peer. Replica 0 need not encounter that loss itself,
 * but the remaining model is saved only after its failure. Shared by the model threads; its lock is never held during a
 * wait.
 */
final class ReplicaStop {

  /** Model thread of replica 0 while its run may be stopped; null before and after. */
  private Thread first;
  /** The first loss of another replica, or null. */
  private PeerLost loss;

  /** Begins the run of replica 0, on the calling thread. */
  synchronized void begin() {
    first = Thread.currentThread();
    if (loss != null) {
      first.interrupt();
    }
  }

  /** Interrupts the present or next wait of replica 0. Called by a replica that has lost a peer. */
  synchronized void stop(PeerLost why) {
    if (loss == null) {
      loss = why;
      if (first != null) {
        first.interrupt();
      }
    }
  }

  /**
   * Checks that no replica has lost a peer, before the rank's acts at its end.
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
   * @return the loss that stopped it; the given failure if it was not stopped, or has encountered a loss itself
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
