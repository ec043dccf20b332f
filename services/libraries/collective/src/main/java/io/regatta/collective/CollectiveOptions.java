package io.regatta.collective;

import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.stream.StreamOptions;
import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * Options of collective calls.
 *
 * @param stream sizes and ways of the streams between ranks; its ping times follow from the failure timeout
 * @param failureTimeoutMillis within which a rank that is frozen or cut off is noticed, at least 3; a process that dies
 *     is noticed at once
 * @param choices of algorithms; the same at all ranks
 * @param busyPollMicros how long the loop of a rank that waits for the next message of a call of a few MB polls before
 *     it sleeps, if this host has a core for each of its ranks; 0: it sleeps at once
 * @param startTimeoutMillis how long ranks wait for each other to form a generation, and repeat attempts to connect. 0:
 *     the connect timeout of a stream and a second, with one attempt, as is right if others can take a rank's place
 */
@RecordBuilder
public record CollectiveOptions(StreamOptions stream, long failureTimeoutMillis, Choices choices, int busyPollMicros,
    long startTimeoutMillis) implements CollectiveOptionsBuilder.With {
  /** A multiple of the time of a message of a few KB with a wake-up; less than a slice of the scheduler's. */
  public static final int BUSY_POLL_MICROS = 100;
  /** A second: a longer wait is for a rank that does something else. */
  public static final int BUSY_POLL_MICROS_MAX = 1_000_000;
  /** Time from the end of a connection attempt until its failure is known everywhere, ms. */
  private static final long CLOSE_MILLIS = 1000;

  public CollectiveOptions {
    if (failureTimeoutMillis < 3) {
      throw new InvalidInput("the failure timeout is " + failureTimeoutMillis + " ms but must be at least 3");
    }
    if (busyPollMicros < 0 || busyPollMicros > BUSY_POLL_MICROS_MAX) {
      throw new InvalidInput("collective: busy_poll_us must be 0 to " + BUSY_POLL_MICROS_MAX + ", not " + busyPollMicros);
    }
    if (startTimeoutMillis < 0) {
      throw new InvalidInput("the start time-out is " + startTimeoutMillis + " ms but must not be negative");
    }
    long third = failureTimeoutMillis / 3;
    stream = stream.with(s -> s.pingIntervalMillis(third).pingTimeoutMillis(failureTimeoutMillis - third));
  }

  long busyPollNanos() {
    return busyPollMicros * 1000L;
  }

  /** Returns how long ranks wait for each other to form a generation, ms. */
  long formMillis() {
    return Math.max(startTimeoutMillis, stream.connectTimeoutMillis() + CLOSE_MILLIS);
  }

  /** Returns the defaults: default streams, 10 s, the table that is shipped, {@value #BUSY_POLL_MICROS} µs. */
  public static CollectiveOptions defaults() {
    return new CollectiveOptions(StreamOptions.defaults(), 10_000, Choices.defaults(), BUSY_POLL_MICROS, 0);
  }
}
