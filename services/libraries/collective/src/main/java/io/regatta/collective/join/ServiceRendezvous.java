package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Rendezvous;
import io.regatta.collective.Seat;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Groups at the rendezvous service, which decides on their members: it alone issues generations and declares members
 * lost, and no member need watch another. Any thread.
 */
public final class ServiceRendezvous implements Rendezvous {
  private final Node node;
  private final Directory.Instance service;
  private final Set<ServiceSeat> seats = ConcurrentHashMap.newKeySet();

  /** @param service as the directory has it */
  public ServiceRendezvous(Node node, Directory.Instance service) {
    this.node = node;
    this.service = service;
  }

  /**
   * Finds the rendezvous of the node's cluster.
   *
   * @param who the process that waits until there is one, for messages
   */
  public static Future<ServiceRendezvous> find(Node node, Duration timeout, String who) {
    return node.directory().awaitAny(Directory.RENDEZVOUS, timeout, who)
        .map(found -> new ServiceRendezvous(node, found.get(0)));
  }

  @Override
  public Future<Seat> join(Joining joining) {
    ServiceSeat seat = new ServiceSeat(node, service, joining, seats::remove);
    seats.add(seat);
    return seat.join();
  }

  @Override
  public Future<Void> close() {
    return leave();
  }

  @Override
  public Future<Void> leave() {
    return Future.join(seats.stream().map(ServiceSeat::leave).toList()).mapEmpty();
  }
}
