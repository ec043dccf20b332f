package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GatherReply;

/** A member that has given its part of a gather and waits for the answer. Called once, on the thread of its group. */
public interface GatherCaller {

  /**
   * Takes the answer, of which exactly one part is not null.
   *
   * @param sent to be run once, on the same thread, when the reply's memory is no longer needed: it has been sent, or
   *     will not be
   */
  void answer(GatherReply reply, RegattaException error, Runnable sent);
}
