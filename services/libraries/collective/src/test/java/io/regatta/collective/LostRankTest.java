package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that freeze, and ranks that never come: nobody waits for them without end. */
class LostRankTest {
  private static final long FAILURE_MILLIS = 1500;
  /**
   * Slack for a busy machine; a rank that does not notice by its failure timeout would wait for the default of 30 s.
   */
  private static final long SLACK_MILLIS = 15_000;

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  /** The Vertx of the rank that freezes. */
  private final Vertx other = Vertx.vertx(new VertxOptions(PlainVertx.options()).setEventLoopPoolSize(1)
      .setBlockedThreadCheckInterval(3600).setBlockedThreadCheckIntervalUnit(TimeUnit.SECONDS));
  private final CountDownLatch thaw = new CountDownLatch(1);
  private final List<CollectivePort> ports = new ArrayList<>();
  private final Waits waits = new Waits();

  @AfterEach
  void close() {
    thaw.countDown();
    get(Future.join(ports.stream().map(CollectivePort::close).toList()));
    get(other.close());
    get(vertx.close());
  }

  private CollectivePort listen(Vertx on, Transport transport, int connectMillis) {
    return listen(on, transport, connectMillis, 0);
  }

  private CollectivePort listen(Vertx on, Transport transport, int connectMillis, long startMillis) {
    StreamOptions stream = StreamOptions.defaults().with(s -> s.connectTimeoutMillis(connectMillis).transport(transport));
    CollectivePort port = get(CollectivePort.listen(on, "127.0.0.1",
        CollectiveOptions.defaults().withStream(stream).withFailureTimeoutMillis(FAILURE_MILLIS)
            .withStartTimeoutMillis(startMillis), waits));
    ports.add(port);
    return port;
  }

  private static Tensor direct(int floats) {
    return Tensor.of(ByteBuffer.allocateDirect(floats * Float.BYTES));
  }

  /** It has sockets, and what the kernel takes for it is all that it takes: far less than what the others have to send. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void a_rank_that_freezes_ends_all_calls_within_the_failure_timeout_and_is_named(int frozen) {
    for (int r = 0; r < 3; r++) {
      listen(r == frozen ? other : vertx, Transport.GRPC, 10_000);
    }
    List<Collectives> ranks = LocalGroup.form(1, ports);
    get(Future.all(ranks.stream().map(Collectives::barrier).toList()));
    CountDownLatch stopped = new CountDownLatch(1);
    ranks.get(frozen).loop().execute(() -> {
      stopped.countDown();
      try {
        thaw.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    awaitUninterrupted(stopped);
    long since = System.nanoTime();
    List<Future<Void>> calls = new ArrayList<>();
    for (Collectives rank : ranks) {
      if (rank.rank() != frozen) {
        calls.add(rank.allReduce(direct(10_000_000), ReduceOp.SUM));
        calls.add(rank.broadcast(direct(10_000_000), rank.rank()));
      }
    }
    for (Future<Void> call : calls) {
      assertThatThrownBy(() -> get(call)).isInstanceOf(PeerLost.class).hasMessageContaining("rank " + frozen)
          .hasMessageContaining("group census, generation 1");
    }
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since)).isLessThan(FAILURE_MILLIS + SLACK_MILLIS);
    for (Collectives rank : ranks) {
      if (rank.rank() != frozen) {
        get(rank.close());
      }
    }
  }

  /**
   * There is no ping in-process. The buffers that the frozen rank has borrowed are still released when another one
   * fails.
   */
  @Test
  void memory_that_was_lent_to_a_frozen_rank_of_this_process_comes_back() {
    for (int r = 0; r < 2; r++) {
      listen(r == 1 ? other : vertx, Transport.AUTO, 10_000);
    }
    List<Collectives> ranks = LocalGroup.form(1, ports);
    CountDownLatch stopped = new CountDownLatch(1);
    ranks.get(1).loop().execute(() -> {
      stopped.countDown();
      try {
        thaw.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    awaitUninterrupted(stopped);
    Future<Void> call = ranks.get(0).broadcast(direct(10_000_000), 0);
    get(ranks.get(0).close());
    assertThatThrownBy(() -> get(call)).hasMessageContaining("rank 0 has been closed");
  }

  /** The one that never does so is to open streams to both others, or to be opened one by rank 0. */
  @ParameterizedTest
  @CsvSource({"AUTO, 0", "GRPC, 0", "GRPC_PLAIN, 0", "GRPC_UNIX, 0", "GRPC_SHARED, 0", "AUTO, 1", "GRPC, 1", "GRPC_UNIX, 1"})
  void a_rank_that_never_forms_the_generation_is_named_by_all_others(Transport transport, int missing) {
    for (int r = 0; r < 3; r++) {
      listen(vertx, transport, r == 2 ? 500 : 1500); // first who has not opened the stream: a reset may overtake its reason
    }
    List<String> endpoints = ports.stream().map(CollectivePort::endpoint).toList();
    List<Future<Collectives>> formed = new ArrayList<>();
    for (int r : new int[] {1 - missing, 2}) {
      formed.add(ports.get(r).form(new Membership("census", 1, r, endpoints)));
    }
    for (Future<Collectives> each : formed) {
      assertThatThrownBy(() -> get(each)).isInstanceOf(PeerLost.class).hasMessageContaining("ranks [" + missing + "]")
          .hasMessageContaining("join again");
    }
    // which comes now, too late: it is told at once; by rank 0, which it has not heard yet, as far as the connection lasts
    assertThatThrownBy(() -> get(ports.get(missing).form(new Membership("census", 1, missing, endpoints)))).isInstanceOf(PeerLost.class)
        .message().containsPattern("ranks \\[" + missing + "\\] have not said within (1500|2500) ms that they form it" // of who noticed first
            + (missing == 0 ? "" : "|rank 0 was lost.*join again"));
    assertThat(get(waits.list())).isEmpty();
    ports.remove(0);
    assertThat(LocalGroup.form(2, ports)).extracting(Collectives::worldSize).containsOnly(2);
  }

  @Test
  void a_rank_that_starts_waits_for_the_others_as_long_as_all_may_take_to_start() {
    listen(vertx, Transport.GRPC, 100, 2000);
    listen(vertx, Transport.GRPC, 100, 2000);
    Membership ranks = new Membership("census", 1, 1, ports.stream().map(CollectivePort::endpoint).toList());
    assertThatThrownBy(() -> get(ports.get(1).form(ranks))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("ranks [0] have not said within 2000 ms");
  }

  /** The machine of rank 1 takes the first connection and is too busy to answer on it. */
  @Test
  void a_rank_that_starts_repeats_a_connection_that_is_not_answered() {
    CollectivePort first = listen(vertx, Transport.GRPC, 300, TimeUnit.SECONDS.toMillis(60));
    CollectivePort second = listen(vertx, Transport.GRPC, 300, TimeUnit.SECONDS.toMillis(60));
    int port = HostPort.parse(second.endpoint(), "rank 1").port();
    NetClient onward = other.createNetClient();
    AtomicInteger connections = new AtomicInteger();
    NetServer busy = get(other.createNetServer().connectHandler(socket -> {
      if (connections.getAndIncrement() > 0) {
        socket.pause();
        onward.connect(port, "127.0.0.1").onSuccess(to -> {
          socket.pipeTo(to);
          to.pipeTo(socket);
        });
      }
    }).listen(0, "127.0.0.1"));
    List<Collectives> formed = get(Future.all(
        first.form(new Membership("census", 1, 0, List.of(first.endpoint(), "127.0.0.1:" + busy.actualPort()))),
        second.form(new Membership("census", 1, 1, List.of(first.endpoint(), second.endpoint()))))).list();
    assertThat(formed).extracting(Collectives::rank).containsExactly(0, 1);
    assertThat(connections).hasValueGreaterThan(1);
    get(Future.all(formed.stream().map(Collectives::barrier).toList()));
  }

  /**
   * If one peer cannot be reached, the others are tried as well: the one that is cut off from most can then be
   * identified.
   */
  @Test
  void all_are_known_whom_a_rank_cannot_reach() {
    for (int r = 0; r < 5; r++) {
      listen(vertx, Transport.GRPC, 10_000);
    }
    Membership ranks = new Membership("census", 1, 0, ports.stream().map(CollectivePort::endpoint).toList());
    get(ports.remove(4).close());
    get(ports.remove(1).close());
    assertThatThrownBy(() -> get(ports.get(0).form(ranks))).isInstanceOf(PeerLost.class).hasMessageContaining("cannot be reached");
    assertThat(get(ports.get(0).unreachable(ranks))).containsExactly(1, 4);
    assertThat(get(ports.get(1).unreachable(ranks))).isEmpty();
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
