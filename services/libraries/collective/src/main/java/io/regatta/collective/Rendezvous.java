package io.regatta.collective;

import io.vertx.core.Future;

/**
 * Where the members of groups meet. A group begins with a generation of the maximum world size, or with fewer (no fewer
 * than the minimum) if nobody else comes for a while. Every change of its members ends the generation; those who go on form
 * the next one ({@link Seat#reform}), with those who have come meanwhile.
 */
public interface Rendezvous {

  /**
   * Takes a seat; completes when the generation has formed that this member is in.
   *
   * @return fails with {@code Conflict} for whom there can be no seat (the group is full, the rank is held, another group
   *     or another world size is here, or what the group was for has ended), and with {@code PeerLost} at the timeout, naming who is missing; both say what to
   *     do. A join that has failed leaves nothing behind
   */
  Future<Seat> join(Joining joining);

  /** Leaves all seats, those too that are still waited for: their joins fail. Never fails itself; {@link #close} goes behind it. */
  Future<Void> leave();

  /** Ends the use of the rendezvous. Seats that have not been left are given up without a word. */
  Future<Void> close();
}
