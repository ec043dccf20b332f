package io.regatta.rendezvous;

import io.regatta.protocol.rendezvous.GroupView;

/** Somebody who follows a group; called on the thread that owns {@link Groups}, never from inside its own call. */
interface Watcher {

  /**
   * The whole group as it is now, at the start and after every change. Views may be skipped if the watcher is slow: a
   * holder replaced in between shows as the same rank with a higher incarnation.
   */
  void view(GroupView view);

  /** The group has been forgotten (nobody is left) or the rendezvous stops; nothing comes after this. */
  void end();
}
