package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GroupView;

/** Somebody who follows a group; called on the thread that owns {@link Groups}. */
interface Watcher {

  /** The views of the group that is followed. */
  interface Views {

    /**
     * Returns the group as it is now: what has changed since a view, or the whole.
     *
     * @param number of the view that the watcher has; 0: none
     */
    GroupView since(long number);
  }

  /**
   * The group has a new view, at the start and after every change. A watcher that is slow may take it later, or skip it: a holder
   * replaced in between shows as the same rank with a higher incarnation.
   */
  void changed(Views views);

  /**
   * Nothing comes after this.
   *
   * @param reason why the watch was broken off, or null if the group has ended: nobody is left in it
   */
  void end(RegattaException reason);
}
