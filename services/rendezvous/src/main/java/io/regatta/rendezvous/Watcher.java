package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GroupView;

/** A follower of a group; called on the thread that owns {@link Groups}. */
interface Watcher {

  /** The views of the group that is followed. */
  interface Views {

    /**
     * Returns the group as it is now: the changes since a view, or the whole.
     *
     * @param number of the view that the watcher has; 0: none
     */
    GroupView since(long number);
  }

  /**
   * Notifies it of a new view of the group, at the start and after every change. A watcher that is slow may take it
   * later, or skip it: a holder replaced in between shows as the same rank with a higher incarnation.
   */
  void changed(Views views);

  /**
   * Ends the watch; no call comes after this.
   *
   * @param reason for which the watch was ended, or null if the group has ended: nobody is left in it
   */
  void end(RegattaException reason);
}
