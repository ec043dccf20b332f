package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GroupView;

/** Somebody who follows a group; called on the thread that owns {@link Groups}. */
interface Watcher {

  /**
   * The whole group as it is now, at the start and after every change. Views may be skipped if the watcher is slow: a
   * holder replaced in between shows as the same rank with a higher incarnation.
   */
  void view(GroupView view);

  /**
   * Nothing comes after this.
   *
   * @param reason why the watch was broken off, or null if the group has ended: nobody is left in it
   */
  void end(RegattaException reason);
}
