package io.regatta.rendezvous;

import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.call.CallRegistry;
import java.util.function.LongSupplier;

/**
 * The groups of one rendezvous with their calls and the timer by which leases and waits expire, on any network. Owned
 * by a loop, on which it is called.
 */
public final class RendezvousGroups {
  private final Loop loop;
  private final RendezvousConfig config;
  private final LongSupplier clock;
  private final Groups groups;
  private Timer expiry = Timer.NONE;

  /** Creates a rendezvous without groups, whose time does not pass yet. */
  public RendezvousGroups(Loop loop, RendezvousConfig config) {
    this.loop = loop;
    this.config = config;
    clock = steady(loop.clock());
    groups = new Groups(config, clock);
  }

  /** Adds the calls of {@code regatta.Rendezvous} to a port. */
  public void bind(CallRegistry calls) {
    new RendezvousEndpoint(groups).bind(calls);
  }

  /** Lets leases and waits expire from now on. */
  public void start() {
    expiry = loop.every(config.tickMs(), groups::expire);
  }

  /** Returns milliseconds since the epoch that never go back; see {@link #steady}. */
  LongSupplier clock() {
    return clock;
  }

  Groups groups() {
    return groups;
  }

  /** Stops the time. */
  void stop() {
    expiry.cancel();
  }

  /** Ends all groups: members and waits are refused. */
  public void close() {
    stop();
    groups.close();
  }

  /**
   * Returns milliseconds since the epoch at the start, then by the monotonic clock: setting the wall clock ends no
   * lease.
   */
  private static LongSupplier steady(Clock clock) {
    long startMillis = clock.epochMillis();
    Stopwatch since = Stopwatch.start(clock);
    return () -> startMillis + since.millis();
  }
}
