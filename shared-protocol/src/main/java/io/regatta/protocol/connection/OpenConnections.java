package io.regatta.protocol.connection;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * The open connections of one port, counted in all and by {@link PeerOrigin}. If a limit is reached, the oldest
 * connection that has not authenticated makes room for a new one, so slow strangers keep nobody out. If all have
 * authenticated, the new one is refused. Thread-safe: connections come and end on threads of their own.
 *
 * @param <C> a connection; one equals itself alone
 */
public final class OpenConnections<C> {

  /**
   * The answer to a connection that has come.
   *
   * @param accepted false: it is refused, because all others have authenticated
   * @param evicted the connection that is to be closed for it, or null
   * @param ofOrigin connections that were open from its origin before
   * @param open connections that were open in all before
   * @param originIsFull true if the limit of its origin was reached
   */
  public record Arrival<C>(boolean accepted, C evicted, int ofOrigin, int open, boolean originIsFull) {}

  /** One connection until it is closed. */
  private static final class Entry {
    private final InetAddress address;
    /** Whether it counts as open: one that makes room does not any more. */
    private boolean counted = true;

    Entry(InetAddress address) {
      this.address = address;
    }
  }

  /** Connections of one origin. */
  private final class Origin {
    private final Set<C> unauthenticated = new LinkedHashSet<>();
    private int open;
  }

  private final int most;
  private final ToIntFunction<InetAddress> mostOfOrigin;
  private final int mostUnauthenticated;
  /** Guarded by this, as what follows. */
  private final Map<C, Entry> entries = new IdentityHashMap<>();
  private final Map<InetAddress, Origin> origins = new HashMap<>();
  /** Connections that have not authenticated, oldest first. */
  private final Set<C> unauthenticated = new LinkedHashSet<>();
  private int open;

  /**
   * Creates the counts of a port without connections.
   *
   * @param most connections in all
   * @param mostOfOrigin connections of the origin of an address
   * @param mostUnauthenticated connections in all that have not authenticated
   */
  public OpenConnections(int most, ToIntFunction<InetAddress> mostOfOrigin, int mostUnauthenticated) {
    this.most = most;
    this.mostOfOrigin = mostOfOrigin;
    this.mostUnauthenticated = mostUnauthenticated;
  }

  /**
   * Counts a connection that has come, unless it is refused.
   *
   * @param address of the peer; null on a Unix domain socket
   */
  public synchronized Arrival<C> arrive(C connection, InetAddress address) {
    Origin from = address == null ? null : origins.get(PeerOrigin.of(address));
    int ofOrigin = from == null ? 0 : from.open;
    int before = open;
    boolean originIsFull = address != null && ofOrigin >= mostOfOrigin.applyAsInt(address);
    C evicted = null;
    if (originIsFull || open >= most || unauthenticated.size() >= mostUnauthenticated) {
      Set<C> candidates = !originIsFull ? unauthenticated : from == null ? Set.of() : from.unauthenticated;
      if (candidates.isEmpty()) {
        return new Arrival<>(false, null, ofOrigin, before, originIsFull);
      }
      evicted = candidates.iterator().next();
      uncount(evicted);
    }
    Entry entry = new Entry(address);
    entries.put(connection, entry);
    unauthenticated.add(connection);
    count(entry);
    if (address != null) {
      origins.get(PeerOrigin.of(address)).unauthenticated.add(connection);
    }
    return new Arrival<>(true, evicted, ofOrigin, before, originIsFull);
  }

  /**
   * Notes that a connection has authenticated: it makes room for no other any more. One that was to make room, and
   * authenticates before it is closed, stays and counts again: a limit may be exceeded by those few.
   */
  public synchronized void authenticated(C connection) {
    Entry entry = entries.get(connection);
    if (entry == null) {
      return; // it has been closed
    }
    removeUnauthenticated(connection, entry);
    if (!entry.counted) {
      entry.counted = true;
      count(entry);
    }
  }

  /** Forgets a connection, which has been closed, or is no longer one of those that are limited here. */
  public synchronized void forget(C connection) {
    uncount(connection);
    entries.remove(connection);
  }

  private void count(Entry entry) {
    open++;
    if (entry.address != null) {
      origins.computeIfAbsent(PeerOrigin.of(entry.address), a -> new Origin()).open++;
    }
  }

  private void uncount(C connection) {
    Entry entry = entries.get(connection);
    if (entry == null || !entry.counted) {
      return;
    }
    entry.counted = false;
    open--;
    removeUnauthenticated(connection, entry);
    Origin from = entry.address == null ? null : origins.get(PeerOrigin.of(entry.address));
    if (from != null && --from.open == 0) {
      origins.remove(PeerOrigin.of(entry.address));
    }
  }

  private void removeUnauthenticated(C connection, Entry entry) {
    unauthenticated.remove(connection);
    Origin from = entry.address == null ? null : origins.get(PeerOrigin.of(entry.address));
    if (from != null) {
      from.unauthenticated.remove(connection);
    }
  }
}
