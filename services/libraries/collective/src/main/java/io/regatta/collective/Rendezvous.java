package io.regatta.collective;

import io.vertx.core.Future;

/**
 * The service or store through which the members of groups find each other. A group begins with a generation of the
 * maximum world size, or with fewer (no fewer than the minimum) if no more members come for a while. Every change of
 * its members ends the generation; the remaining ones form the next one ({@link Seat#reform}), with those that have
 * come meanwhile.
 */
public interface Rendezvous {

  /**
   * Takes a seat; completes when a generation with this member has formed.
   *
   * @return fails with {@code Conflict} if there can be no seat (the group is full, the rank is held, another group or
   *     another world size is here, or the group has ended), and with {@code PeerLost} at the timeout, naming who
   *     is missing; both say what to do. A join that has failed leaves nothing behind
   */
  Future<Seat> join(Joining joining);

  /**
   * Leaves all seats. Seats that are still waited for are left, too: their joins fail. Never fails itself; call
   * {@link #close} afterwards.
   */
  Future<Void> leave();

  /** Ends the use of the rendezvous. Seats that have not been left are abandoned without notice. */
  Future<Void> close();
}
