package io.regatta.protocol.stream.request;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;

/**
 * The memory that requests of all streams of a loop take together. A request beyond the limit waits for its turn, in
 * the order of arrival, and its session reads nothing meanwhile. A single request has room whatever its size. Memory that
 * is kept to be used again is counted apart, up to the same limit. Owned by the loop.
 */
public final class RequestMemory {

  private final long limit;
  private final ArrayDeque<Room> waiting = new ArrayDeque<>();
  private long taken;
  private long kept;

  /** Creates memory of which nothing is taken; {@code limit} is in bytes. */
  public RequestMemory(long limit) {
    this.limit = limit;
  }

  /** Returns memory without a limit. */
  public static RequestMemory unlimited() {
    return new RequestMemory(Long.MAX_VALUE);
  }

  /** Room for one request. */
  public final class Room {
    private final long bytes;
    private final Promise<Void> granted = Promise.promise();
    private boolean over;

    private Room(long bytes) {
      this.bytes = bytes;
    }

    /** Returns a future that completes once there is room; it does not if that has been given back before. */
    public Future<Void> granted() {
      return granted.future();
    }

    /** Returns true once there is room. */
    public boolean isGranted() {
      return granted.future().isComplete();
    }

    /** Gives the room back, or stops the wait for it. May be repeated. */
    public void giveBack() {
      if (over) {
        return;
      }
      over = true;
      if (isGranted()) {
        taken -= bytes;
      } else {
        waiting.remove(this);
      }
      grant();
    }
  }

  /** Asks for room; it is granted before this returns if there is some. */
  public Room take(long bytes) {
    Room room = new Room(bytes);
    waiting.add(room);
    grant();
    return room;
  }

  private void grant() {
    while (!waiting.isEmpty() && (taken == 0 || waiting.peek().bytes <= limit - taken)) {
      Room room = waiting.poll();
      taken += room.bytes;
      room.granted.complete();
    }
  }

  /** Counts memory that is kept to be used again; returns false, and counts nothing, if that is beyond the limit. */
  public boolean keep(long bytes) {
    if (bytes > limit - kept) {
      return false;
    }
    kept += bytes;
    return true;
  }

  /** Notes that memory is kept no more: it is in use, or released. */
  public void keptNoMore(long bytes) {
    kept -= bytes;
  }

  /** Returns the bytes that are kept now. */
  public long kept() {
    return kept;
  }

  /** Returns the bytes that are taken now. */
  public long taken() {
    return taken;
  }

  /** Returns the number of requests that wait for room. */
  public int waiting() {
    return waiting.size();
  }
}
