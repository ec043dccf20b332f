package io.regatta.collective.join;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.collective.Collectives;
import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.collective.Seat.Reform;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.testing.UnusedPort;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One of three members lives, and speaks with the rendezvous, but the others cannot reach it. */
@ExtendWith(BlockedLoopGuard.class)
class UnreachableMemberTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final Vertx vertx = Vertx.vertx();
  private final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  private final Node node = Node.embedded(vertx, directory, "test");
  private ServiceRendezvous rendezvous;

  @BeforeEach
  void start() {
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    rendezvous = get(ServiceRendezvous.find(node, LONG, "test"));
  }

  @AfterEach
  void stop() {
    get(rendezvous.close());
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }

  /** Forms its generation; if that fails, forms the next one, and so on. */
  private static Future<Collectives> goOn(Seat seat, CollectivePort port) {
    Membership ranks = seat.membership();
    return port.form(ranks).recover(e -> port.unreachable(ranks)
        .compose(unreachable -> seat.reform(new Reform(LONG, false, unreachable, true)))
        .compose(next -> goOn(seat, port)));
  }

  private CollectivePort listen() {
    StreamOptions hasty = StreamOptions.defaults().with(s -> s.connectTimeoutMillis(200).transport(Transport.GRPC));
    return get(CollectivePort.listen(vertx, "127.0.0.1", CollectiveOptions.defaults().withStream(hasty), new Waits()));
  }

  private Future<Seat> join(int rank, String endpoint) {
    return rendezvous.join(new Joining("g", 2, 3, rank, "m" + rank, endpoint, LONG, LONG));
  }

  @Test
  void itMustGo_andTheOthersGoOn() throws Exception {
    List<CollectivePort> ports = List.of(listen(), listen(), listen());
    try (UnusedPort unused = new UnusedPort()) {
      String closed = "127.0.0.1:" + unused.number();
      List<Future<Seat>> joins = List.of(join(0, ports.get(0).endpoint()), join(1, ports.get(1).endpoint()), join(2, closed));
      List<Future<Collectives>> all = List.of(0, 1, 2).stream().map(i -> goOn(get(joins.get(i)), ports.get(i))).toList();
      assertThat(List.of(get(all.get(0)), get(all.get(1)))).extracting(Collectives::worldSize).containsOnly(2);
      assertThatThrownBy(() -> get(all.get(2))).isInstanceOf(StaleGeneration.class).hasMessageContaining("rank 2 (m2 at " + closed)
          .hasMessageContaining("live and cannot reach each other, and 3 generations with both failed");
      ports.forEach(port -> get(port.close()));
    }
  }
}
