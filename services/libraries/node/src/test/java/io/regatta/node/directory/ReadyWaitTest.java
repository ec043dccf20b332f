package io.regatta.node.directory;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory.Instance;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Waiting for services, over a directory without a cluster and over fixed endpoints. */
@ExtendWith(BlockedLoopGuard.class)
class ReadyWaitTest {

  private final Vertx vertx = Vertx.vertx();
  private final Waits waits = new Waits();
  private final HazelcastDirectory directory = new HazelcastDirectory(vertx, waits, 600);
  /** Calls of the thread that says the line. */
  private final Map<Integer, Runnable> atLine = new ConcurrentHashMap<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>() {
    @Override
    protected void append(ILoggingEvent event) {
      super.append(event);
      atLine.getOrDefault(list.size(), () -> { }).run();
    }
  };

  @BeforeEach
  void capture() {
    log.start();
    ((Logger) LoggerFactory.getLogger(ReadyWait.class)).addAppender(log);
  }

  @AfterEach
  void close() {
    ((Logger) LoggerFactory.getLogger(ReadyWait.class)).detachAppender(log);
    get(vertx.close());
  }

  @Test
  void itSaysTheTwoLinesThenTheCauseEvery3SecondsAndGoesOnWhenAllAreThere() {
    get(directory.register(instance("parameter-server", "a", 0, listen().actualPort())));
    int second = listen().actualPort();
    // When it has said it twice, and before it looks again, however slow the machine.
    atLine.put(6, () -> directory.register(instance("parameter-server", "b", 1, second)));
    Future<List<Instance>> ready = directory.await("parameter-server", 2, Duration.ofSeconds(60), "trainer 0");

    assertThat(get(ready)).extracting(Instance::id).containsExactly("a", "b");
    List<String> lines = lines();
    assertThat(lines).hasSize(7);
    for (int said = 0; said < 2; said++) {
      assertThat(lines.get(3 * said)).isEqualTo("server not ready, wait 3 sec to retry...");
      assertThat(lines.get(3 * said + 1)).isEqualTo("not ready endpoints:['parameter-server 1']");
      assertThat(lines.get(3 * said + 2)).startsWith("trainer 0 waits for 2 x parameter-server, 1 ready, since ")
          .contains("parameter-server 1 not registered in the directory");
    }
    assertThat(lines.get(6)).contains("ready after");
    assertThat(get(waits.list())).isEmpty();
  }

  @Test
  void aServerRestartedWithinItsLeaseCountsOnceAndTheOtherIsStillWaitedFor() {
    int port = listen().actualPort();
    get(directory.register(started("died", 0, port, 1)));
    get(directory.register(started("restarted", 0, port, 2)));
    Future<List<Instance>> ready = directory.await("parameter-server", 2, Duration.ofSeconds(30), "trainer 0");
    awaitLine("not ready endpoints:['parameter-server 1']");
    assertThat(ready.isComplete()).as("two entries, one index").isFalse();
    assertThat(get(waits.list()).get(0).waitsFor()).extracting(Wait.Peer::name).containsExactly("parameter-server 1");

    get(directory.register(started("elsewhere", 1, FreePorts.one(), 1)));
    get(directory.register(started("other", 1, listen().actualPort(), 2)));
    assertThat(get(ready)).extracting(Instance::id).containsExactly("restarted", "other");
  }

  @Test
  void aServerThatDiesWhileAnotherIsWaitedForIsWaitedForAgain() {
    NetServer first = listen();
    int second = listen().actualPort(); // while the other has its own: none is to come back in a new place
    int again = listen().actualPort();
    get(directory.register(started("first", 0, first.actualPort(), 1)));
    Future<List<Instance>> ready = directory.await("parameter-server", 2, Duration.ofSeconds(60), "trainer 0");
    awaitLine("trainer 0 waits for 2 x parameter-server, 1 ready");
    get(first.close());
    get(directory.register(started("second", 1, second, 1)));
    get(vertx.timer(500, TimeUnit.MILLISECONDS).mapEmpty());
    assertThat(ready.isComplete()).as("the first is dead, but still listed").isFalse();
    get(directory.register(started("first-again", 0, again, 2)));
    assertThat(get(ready)).extracting(Instance::id).containsExactly("first-again", "second");
  }

  @Test
  void anIndexOutOfPlaceIsSaid() {
    get(directory.register(instance("parameter-server", "a", 5, listen().actualPort())));
    assertThatThrownBy(() -> givenUp(2)).isInstanceOf(PeerLost.class).hasMessageContaining("parameter-server 0, parameter-server 1 not registered")
        .hasMessageContaining("instances with index [5], each needs one of its own below 2");
  }

  private static Instance started(String id, int index, int port, long incarnation) {
    return new Instance("parameter-server", id, index, "127.0.0.1", port, incarnation, Map.of());
  }

  @Test
  void aRegisteredServerThatRefusesConnectionsIsNamedByItsEndpoint() {
    int port = FreePorts.one();
    get(directory.register(instance("parameter-server", "dead", 0, port)));
    assertThatThrownBy(() -> givenUp(1)).isInstanceOf(PeerLost.class)
        .hasMessageContaining("trainer 1 waits for 1 x parameter-server, 0 ready")
        .hasMessageContaining("127.0.0.1:" + port + ": connection refused")
        .hasMessageContaining("node.ready_timeout_seconds");
    assertThat(lines()).contains("not ready endpoints:['127.0.0.1:" + port + "']");
  }

  /** Checks how a wait ends whose time is up, once it has logged what is missing. */
  private void givenUp(int count) {
    Promise<List<Instance>> given = Promise.promise();
    Context owner = vertx.getOrCreateContext();
    owner.runOnContext(v -> {
      ReadyWait wait = new ReadyWait(VertxLoop.current(vertx), vertx.createNetClient(), waits, () -> directory.poll("parameter-server"),
          "parameter-server", count, Duration.ofMinutes(10), "trainer 1");
      atLine.put(3, wait::giveUp);
      wait.start().onComplete(given);
    });
    get(given.future());
  }

  @Test
  void whenTimeIsUpItGivesUp() {
    assertThatThrownBy(() -> get(directory.await("parameter-server", 1, Duration.ofMillis(1), "trainer 1")))
        .isInstanceOf(PeerLost.class).hasMessageContaining("gave up after").hasMessageContaining("trainer 1 waits for 1 x")
        .hasMessageContaining("node.ready_timeout_seconds");
    assertThat(get(waits.list())).isEmpty();
  }

  @Test
  void theWaitStandsInTheRegistryUntilTheDirectoryIsClosed() {
    Future<List<Instance>> never = directory.awaitAny("rendezvous", Duration.ofMinutes(10), "trainer 0");
    awaitLine("not ready endpoints:['rendezvous']");
    assertThat(get(waits.list())).singleElement().extracting(Wait::who).isEqualTo("trainer 0");
    get(directory.close());
    assertThatThrownBy(() -> get(never)).isInstanceOf(Cancelled.class);
    assertThat(get(waits.list())).isEmpty();
  }

  @Test
  void fixedEndpointsAreWaitedForByConnecting() {
    NetServer up = listen();
    int down = FreePorts.one();
    FixedDirectory fixed = new FixedDirectory(vertx, waits, Map.of("rendezvous", "127.0.0.1:" + up.actualPort(),
        "parameter-server", "127.0.0.1:" + up.actualPort() + ",127.0.0.1:" + down));
    assertThat(get(fixed.awaitAny("rendezvous", Duration.ofSeconds(60), "trainer 0"))).hasSize(1);

    Future<List<Instance>> both = fixed.await("parameter-server", 2, Duration.ofSeconds(60), "trainer 0");
    awaitLine("not ready endpoints:['127.0.0.1:" + down + "']");
    get(vertx.createNetServer().connectHandler(socket -> { }).listen(down, "127.0.0.1"));
    assertThat(get(both)).extracting(Instance::index).containsExactly(0, 1);

    assertThatThrownBy(() -> get(fixed.register(instance("rendezvous", "r", 0, down))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("cluster.endpoints");
    assertThat(get(fixed.list("trainer"))).isEmpty();
    get(fixed.close());
  }

  private void awaitLine(String beginning) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (lines().stream().noneMatch(line -> line.startsWith(beginning))) {
      assertThat(System.nanoTime()).as("%s; %s", beginning, lines()).isLessThan(deadline);
      get(vertx.timer(10, TimeUnit.MILLISECONDS).mapEmpty());
    }
  }

  private NetServer listen() {
    return vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1").await();
  }

  private List<String> lines() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }
}
