package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The way in which a group forms, and lets later members in: {@link FixedFormation}, once and for all, or
 * {@link ElasticFormation}, one generation after another. Part of its {@link Group}, on its thread. The defaults are
 * those of a group that forms once.
 */
interface Formation {

  /**
   * Lets a process in, now or later.
   *
   * @return to be run when the caller has gone: withdraws a join that still waits
   */
  Runnable join(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done);

  /** Seats the joins that can be seated now, and refuses those that cannot be seated any more. */
  void proceed(long now);

  /**
   * Handles a member's leave.
   *
   * @param ended whether it has reported that the group's work is done
   */
  void left(boolean ended, long now);

  /** Returns the reason for which joins still wait, and what to do. */
  String state(long now);

  /** Returns the ranks that waiting joins wait for. */
  Collection<Integer> absentRanks();

  /** Returns true if nobody is left to serve once no member is active. */
  boolean isOver();

  /**
   * Removes and returns the joins that still wait for a rank of a group whose members are all gone: they belong to a
   * new group.
   */
  default List<JoinQueue.PendingJoin> takeNextLives() {
    return List.of();
  }

  /** Returns true if a join waits on after its timeout. */
  default boolean waitsOn(JoinQueue.PendingJoin join) {
    return false;
  }

  /** Returns the newcomers that the next generation could take in. */
  default List<JoinRequest> newcomers() {
    return List.of();
  }

  /** Notes that the stream by which a member follows the group has broken. */
  default void streamBroke(GroupMember holder, long now) {}

  /** Returns the reason for which a member whose lease has not ended must be declared lost; empty if there is none. */
  default Optional<String> lost(GroupMember holder, long now) {
    return Optional.empty();
  }

  /** Notes that the last member is gone. */
  default void endWithoutSuccess() {}

  /** Ends the waits outside of the group's join queue. */
  default void close(RegattaException reason) {}

  /** Returns the waits outside of the group's join queue. */
  default List<Wait> waits() {
    return List.of();
  }
}
