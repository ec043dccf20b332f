package io.regatta.data;

import io.regatta.core.loop.Clock;
import io.regatta.protocol.vertx.SystemClock;
import java.util.Map;

/** Where threads that read data say what they did and when. Any thread. */
public interface Timeline {

  /** Keeps nothing. */
  Timeline NONE = new Timeline() {
    @Override
    public Clock clock() {
      return SystemClock.get();
    }

    @Override
    public boolean on() {
      return false;
    }

    @Override
    public void span(String track, String what, long beginNanos, Map<String, Object> details) {}
  };

  /** Returns the clock by which spans begin and end. */
  Clock clock();

  /** Returns false if spans are not kept now. */
  boolean on();

  /**
   * Adds a span that ends now.
   *
   * @param track who did it, e.g. the thread's name
   * @param what what was done, e.g. {@code read}
   * @param beginNanos by {@link #clock}
   * @param details by name, e.g. {@code rows}
   */
  void span(String track, String what, long beginNanos, Map<String, Object> details);
}
