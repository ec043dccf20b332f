package io.regatta.data;

import io.regatta.core.loop.Clock;
import io.regatta.protocol.vertx.SystemClock;
import java.util.Map;

/** A record of what the threads that read data did, and when. Any thread may call it. */
public interface Timeline {

  /** Records nothing. */
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
    public void span(String track, String name, long beginNanos, Map<String, Object> details) {}
  };

  /** Returns the clock by which spans begin and end. */
  Clock clock();

  /** Returns true while spans are recorded. */
  boolean on();

  /**
   * Records a span that ends now, if spans are recorded.
   *
   * @param track who did it, e.g. the thread's name
   * @param name what was done, e.g. {@code read}
   * @param beginNanos its beginning, by {@link #clock}
   * @param details by name, e.g. {@code rows}
   */
  void span(String track, String name, long beginNanos, Map<String, Object> details);
}
