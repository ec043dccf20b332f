package io.regatta.collective.join;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.Duration;
import java.util.Locale;

/**
 * The intervals at which the members of a group look at each other over a store. Immutable; the same for all members.
 *
 * @param poll between two looks at the group
 * @param lease a member without a heartbeat for this long is lost
 */
public record Timing(Duration poll, Duration lease) {

  /** Heartbeats per lease, and the number lost in a row after which a member is lost. */
  static final int BEATS_PER_LEASE = 4;

  public Timing {
    if (poll.toMillis() < 1 || lease.toMillis() < BEATS_PER_LEASE * poll.toMillis()) {
      throw new InvalidInput("a lease must be at least " + BEATS_PER_LEASE + " looks long, and a look 1 ms, got "
          + lease.toMillis() + " and " + poll.toMillis() + " ms");
    }
  }

  /** Returns the defaults: a look every 100 ms, and a lease of 10 s, as at the rendezvous service. */
  public static Timing defaults() {
    return new Timing(Duration.ofMillis(100), Duration.ofSeconds(10));
  }

  /** Returns the lease, for messages. */
  String seconds() {
    return String.format(Locale.ROOT, "%.1f s", lease.toMillis() / 1000.0);
  }

  long beatNanos() {
    return lease.toNanos() / BEATS_PER_LEASE;
  }
}
