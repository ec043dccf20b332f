package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;

/**
 * Configuration of one rendezvous, validated here, read once in {@code main} and passed as a value.
 *
 * @param host address to listen on and to announce
 * @param port port to listen on
 * @param leaseMs a member without a heartbeat for this long is declared lost
 * @param tickMs how often leases and timeouts are looked at: each may end this much late
 * @param maxWaitMs longest join, gather or wait; a request that names no timeout, or a longer one, gets this one
 * @param messageBytes largest request
 * @param limits see {@link Limits}
 */
public record RendezvousConfig(String host, int port, long leaseMs, long tickMs, long maxWaitMs, int messageBytes,
    Limits limits) {

  /**
   * What one rendezvous holds at most. A request beyond a limit fails with {@code Overloaded} (or, where waiting cannot
   * help, {@code InvalidInput}) and changes nothing.
   *
   * @param groups open groups
   * @param members world size of a group
   * @param names characters of a group's, member's, key's, queue's or item's name
   * @param watchers watchers of a group
   * @param gathers open gathers of a group; as many finished ones are remembered by key
   * @param payloadBytes payload of one member in a gather
   * @param gatherBytes payloads held by all open gathers of a group
   * @param keys keys in a group's store
   * @param valueBytes one value
   * @param storeBytes all values of a group's store
   * @param waits callers waiting for keys of a group
   * @param queues work queues of a group, finished ones included
   * @param items items of one work queue
   */
  public record Limits(int groups, int members, int names, int watchers, int gathers, int payloadBytes,
      long gatherBytes, int keys, int valueBytes, long storeBytes, int waits, int queues, int items) {

    public Limits {
      positive("limits.groups", groups);
      positive("limits.members", members);
      positive("limits.names", names);
      positive("limits.watchers", watchers);
      positive("limits.gathers", gathers);
      positive("limits.payload_bytes", payloadBytes);
      positive("limits.gather_bytes", gatherBytes);
      positive("limits.keys", keys);
      positive("limits.value_bytes", valueBytes);
      positive("limits.store_bytes", storeBytes);
      positive("limits.waits", waits);
      positive("limits.queues", queues);
      positive("limits.items", items);
    }

    public static Limits defaults() {
      return new Limits(256, 4096, 512, 4096, 1024, 4 << 20, 64 << 20, 65_536, 1 << 20, 64 << 20, 4096, 4096,
          100_000);
    }
  }

  public RendezvousConfig {
    if (host == null || host.isBlank()) {
      throw new RegattaException.InvalidInput("rendezvous.host is empty; give the address to listen on");
    }
    if (port < 0 || port > 65_535) {
      throw new RegattaException.InvalidInput("rendezvous.port is " + port + "; give 0 (any free one) to 65535");
    }
    positive("lease_ms", leaseMs);
    positive("tick_ms", tickMs);
    positive("max_wait_ms", maxWaitMs);
    positive("message_bytes", messageBytes);
    if (tickMs > leaseMs) {
      throw new RegattaException.InvalidInput("rendezvous.tick_ms is " + tickMs + ", more than lease_ms " + leaseMs
          + "; make the tick a small part of the lease");
    }
    if (messageBytes < limits.payloadBytes() + 4096 || messageBytes < limits.valueBytes() + 4096) {
      throw new RegattaException.InvalidInput("rendezvous.message_bytes is " + messageBytes
          + ", too small for limits.payload_bytes " + limits.payloadBytes() + " or limits.value_bytes "
          + limits.valueBytes() + " plus 4096; raise it or lower those");
    }
  }

  public static RendezvousConfig defaults() {
    return new RendezvousConfig("127.0.0.1", 0, 10_000, 100, 3_600_000, 8 << 20, Limits.defaults());
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new RegattaException.InvalidInput("rendezvous." + key + " is " + value + "; it must be at least 1");
    }
  }
}
