package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of a server that does not know its index among the servers, as PaddlePaddle's v2 starts them. Trainers know
 * the servers in order: the first one that asks for the shards announces the index and the number of servers. It also
 * announces that the rendezvous is at the first server. A trainer that later gives another index or number is refused;
 * the server keeps its place until it ends. Owned by the control port's event loop.
 */
final class AnnouncedSeat {

  private static final Logger LOG = LoggerFactory.getLogger(AnnouncedSeat.class);
  private static final PeerLog PLACES = PeerLog.ofEvents(LOG);

  private final Clock clock;
  private final Directory directory;
  private final int port;
  private final int trainers;
  private final Promise<ServerSeat> seat = Promise.promise();
  /** Null until a trainer has announced them. */
  private List<String> servers;
  private int index;

  /**
   * Creates a place that is not known yet.
   *
   * @param clock dates the start of this server
   * @param directory learns where servers and rendezvous are
   * @param port the control port
   * @param trainers of each job that this server takes; 0: any number
   */
  AnnouncedSeat(Clock clock, Directory directory, int port, int trainers) {
    this.clock = clock;
    this.directory = directory;
    this.port = port;
    this.trainers = trainers;
  }

  /**
   * Returns a future that completes when a trainer has announced the place.
   *
   * @param lacks notified of what this server waits for
   */
  Future<ServerSeat> seat(Consumer<String> lacks) {
    String wait = "waits for the first trainer, which says which of the servers this is";
    lacks.accept(wait);
    LOG.info("the parameter server at port {} {}", port, wait);
    return seat.future();
  }

  /** Returns the number of all servers; 0: not known yet. */
  int servers() {
    return servers == null ? 0 : servers.size();
  }

  /**
   * Takes the place that a request for the shards announces, if it does, or compares it with the known one.
   *
   * @throws Conflict if others have announced another place, or this server was started for another number of trainers
   * @throws InvalidInput if the place is impossible
   */
  void told(ShardMapRequest known) {
    if (known.getServersCount() == 0) {
      return;
    }
    if (trainers > 0 && known.getTrainers() != trainers) {
      throw new Conflict("the parameter server at port " + port + " was started for " + trainers
          + " trainers (--num_gradient_servers), but this trainer's job has " + known.getTrainers()
          + ": say the same number on both sides");
    }
    if (servers == null) {
      take(known);
    } else if (known.getServerIndex() != index || known.getServersCount() != servers.size()) {
      throw new Conflict("the parameter server at port " + port + " is server " + index + " of " + String.join(",", servers)
          + ", as the first trainer said, but this one says that it is server " + known.getServerIndex() + " of "
          + String.join(",", known.getServersList()) + ": give all trainers the same --pservers, in the same order, and start the "
          + "servers again if the first one was wrong");
    }
  }

  private void take(ShardMapRequest known) {
    List<String> list = List.copyOf(known.getServersList());
    int place = known.getServerIndex();
    if (place < 0 || place >= list.size() || HostPort.parse(list.get(place), "servers").port() != port) {
      throw new InvalidInput("a trainer says that this is server " + place + " of " + String.join(",", list) + ", but it is the one "
          + "at port " + port);
    }
    servers = list;
    index = place;
    directory.learn(Directory.RENDEZVOUS, list.get(0));
    directory.learn(Directory.PARAMETER_SERVER, String.join(",", list));
    PLACES.info("a trainer says that this is server {} of {}", place, String.join(",", list));
    seat.complete(new ServerSeat(place, clock.epochMillis(), null));
  }
}
