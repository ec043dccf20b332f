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
 * The way in which a group forms, and lets in who comes later: {@link FixedFormation}, once and for all, or {@link ElasticFormation}, one
 * generation after another. Part of its {@link Group}, on that one's thread. The defaults are those of a group that forms once.
 */
interface Formation {

  /**
   * Lets somebody in, now or later.
   *
   * @return to be run when the caller has gone: withdraws a join that still waits
   */
  Runnable join(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done);

  /** Seats whoever can be seated now, and refuses those who cannot be seated any more. */
  void proceed(long now);

  /**
   * A member has left.
   *
   * @param ended whether it has said that what the group was for is done
   */
  void left(boolean ended, long now);

  /** Returns why somebody still waits, and what to do. */
  String state(long now);

  /** Returns the ranks that those who wait to join wait for. */
  Collection<Integer> absentRanks();

  /** Returns true if nobody is left to serve where no member is active. */
  boolean isOver();

  /** Takes out those who still wait for a rank of a group whose members are all gone: they belong to a new group. */
  default List<JoinQueue.Guest> takeNextLives() {
    return List.of();
  }

  /** Returns true if a guest waits on after its time. */
  default boolean waitsOn(JoinQueue.Guest guest) {
    return false;
  }

  /** Returns the newcomers whom the next generation could take in. */
  default List<JoinRequest> newcomers() {
    return List.of();
  }

  /** The stream by which a member follows the group has broken. */
  default void streamBroke(GroupMember holder, long now) {}

  /** Returns why a member has to be declared lost, whose lease has not ended; empty if it has not. */
  default Optional<String> lost(GroupMember holder, long now) {
    return Optional.empty();
  }

  /** The last member is gone. */
  default void endWithoutSuccess() {}

  /** Breaks off what waits beside the group's joinQueue. */
  default void close(RegattaException reason) {}

  /** Returns what waits beside the group's joinQueue. */
  default List<Wait> waits() {
    return List.of();
  }
}
