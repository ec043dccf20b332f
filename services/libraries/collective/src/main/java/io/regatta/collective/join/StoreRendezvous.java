package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Rendezvous;
import io.regatta.collective.Seat;
import io.regatta.collective.store.Store;
import io.regatta.node.admin.Waits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A rendezvous through any store, without a service. The members agree by compare-and-set of one value
 * ({@link MembershipRecord}), and watch each other's heartbeats ({@link StoreHeartbeats}), as the nodes of torch's
 * elastic rendezvous do. Any thread. A group needs a scope of the store for itself ({@link Store#under}).
 */
public final class StoreRendezvous implements Rendezvous {
  private final Vertx vertx;
  private final Store store;
  private final Timing timing;
  private final Waits waits;
  private final boolean majority;
  private final Set<StoreSeat> seats = ConcurrentHashMap.newKeySet();
  /** Completes when the seats that are being left no longer use the store. */
  private volatile Future<Void> left = Future.succeededFuture();

  /**
   * Creates a rendezvous whose groups need a majority if the store can be split.
   *
   * @param store the group's scope of one; stays open when this is closed
   * @param waits registers joins that wait
   */
  public StoreRendezvous(Vertx vertx, Store store, Timing timing, Waits waits) {
    this(vertx, store, timing, waits, store.canBeSplit());
  }

  /**
   * Creates a rendezvous with or without that rule.
   *
   * @param majority whether a next generation needs most members of the last one, so that at most one part of a split
   *     group continues. Without it each part continues that has the minimum world size
   */
  public StoreRendezvous(Vertx vertx, Store store, Timing timing, Waits waits, boolean majority) {
    this.majority = majority;
    this.vertx = vertx;
    this.store = store;
    this.timing = timing;
    this.waits = waits;
  }

  @Override
  public Future<Seat> join(Joining joining) {
    StoreSeat seat = new StoreSeat(vertx, store, timing, waits, majority, joining, seats::remove);
    seats.add(seat);
    return seat.join();
  }

  @Override
  public Future<Void> leave() {
    Promise<Void> leaving = Promise.promise();
    left = leaving.future(); // before a join that fails closes this
    Future.join(seats.stream().map(StoreSeat::leave).toList()).<Void>mapEmpty().onComplete(leaving);
    return left;
  }

  @Override
  public Future<Void> close() {
    seats.forEach(StoreSeat::giveUp);
    return left;
  }
}
