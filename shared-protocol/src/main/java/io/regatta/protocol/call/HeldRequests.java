package io.regatta.protocol.call;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Vertx;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests of one port that are arriving or being answered, with limits of their bytes together and of the time that
 * each may take to arrive. Owned by the event loop of that port; the count of refusals may be read by any thread.
 */
public final class HeldRequests {
  private final Vertx vertx;
  private final long mostBytes;
  private final long arrivalMillis;
  private final AtomicLong refusals = new AtomicLong();
  private long bytes;

  /**
   * Creates a record without requests.
   *
   * @param mostBytes of all requests together
   * @param arrivalMillis within which a request has to arrive completely
   */
  public HeldRequests(Vertx vertx, long mostBytes, long arrivalMillis) {
    this.vertx = vertx;
    this.mostBytes = mostBytes;
    this.arrivalMillis = arrivalMillis;
  }

  /** Counts bytes that have arrived until {@link #giveBack}; returns false if there is no room for them. */
  public boolean hold(long more) {
    boolean room = bytes + more <= mostBytes;
    bytes += room ? more : 0;
    return room;
  }

  /** Counts bytes no longer. */
  public void giveBack(long fewer) {
    bytes -= fewer;
  }

  /** Returns the bytes that are counted now. */
  public long bytes() {
    return bytes;
  }

  /** Returns the error of a request for which there was no room. */
  public Overloaded overloaded() {
    return new Overloaded("requests of " + bytes + " bytes are being answered; ask again later");
  }

  /** Runs the task when a request that begins now must have arrived; returns the action to run when it has. */
  public Runnable awaitArrival(Runnable late) {
    return VertxLoop.current(vertx).after(arrivalMillis, late)::cancel;
  }

  /** Returns the text about a request that has not arrived in time. */
  public String late(String arrived) {
    return "after " + arrivalMillis + " ms " + arrived + " of the request have come, and not the rest";
  }

  /** Counts a call that was refused because it found no room, or came too late. */
  void refused() {
    refusals.incrementAndGet();
  }

  /** Returns the calls that were refused because they found no room, or came too late. Any thread. */
  public long refusals() {
    return refusals.get();
  }
}
