package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * The common part of seats: the news of the current generation, and the reason for giving the seat up. News are that
 * the generation is over, that members are gone, and that there are newcomers, each once per generation. Changed on the
 * seat's loop only.
 */
abstract class AbstractSeat implements Seat {
  private final VertxLoop loop;
  private volatile Membership membership;
  private volatile Promise<String> ended;
  private volatile Promise<String> gone;
  private volatile Promise<String> newcomers;
  /** Null as long as the seat is held. */
  private Throwable givenUpFor;

  /** Creates a seat without a generation. */
  AbstractSeat(VertxLoop loop) {
    this.loop = loop;
    ended = loop.promise();
    gone = loop.promise();
    newcomers = loop.promise();
  }

  final VertxLoop loop() {
    return loop;
  }

  /** Notes that a generation has formed. */
  final void begins(Membership formed) {
    ended = loop.promise();
    gone = loop.promise();
    newcomers = loop.promise();
    membership = formed;
  }

  final void isOver(String why) {
    ended.tryComplete(why);
  }

  final void areGone(String who) {
    gone.tryComplete(who);
  }

  final void hasNewcomers(String who) {
    newcomers.tryComplete(who);
  }

  /** Notes that the seat is given up. */
  final void fail(Throwable why) {
    givenUpFor = why;
    ended.tryFail(why);
    gone.tryFail(why);
    newcomers.tryFail(why);
  }

  /** Returns the error for a later call on a seat that has been given up: the reason of that. */
  final RegattaException givenUp(Joining joining) {
    String why = joining.member() + " has given its seat in group " + joining.group() + " up: " + givenUpFor.getMessage();
    return givenUpFor instanceof StaleGeneration ? new StaleGeneration(why) : new Cancelled(why);
  }

  @Override
  public final Membership membership() {
    return membership;
  }

  @Override
  public final Future<String> ended() {
    return ended.future();
  }

  @Override
  public final Future<String> gone() {
    return gone.future();
  }

  @Override
  public final Future<String> newcomers() {
    return newcomers.future();
  }
}
