package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rank goes at a random moment, in the middle of calls, again and again; the others form the next generation with a new one. */
class RandomKillsTest {
  private static final int KILLS = 15;
  private static final int RANKS = 4;

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final Waits waits = new Waits();
  private final List<CollectivePort> ports = new ArrayList<>();

  /** A call and what it was lent. */
  private record Call(Future<Void> done, float[] lent) {}

  @AfterEach
  void close() {
    get(Future.join(ports.stream().map(CollectivePort::close).toList()));
    get(vertx.close());
  }

  private CollectivePort listen(Transport transport) {
    return get(CollectivePort.listen(vertx, "127.0.0.1", CollectiveOptions.defaults().withFailureTimeoutMillis(3000)
        .withStream(StreamOptions.defaults().withTransport(transport)), waits));
  }

  private static List<Call> calls(Collectives rank, long seed) {
    Random random = new Random(seed); // the same at all ranks
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      float[] lent = new float[random.nextInt(400_000)];
      Arrays.fill(lent, rank.rank() + 1);
      Tensor tensor = Tensor.of(lent).on(random.nextInt(4) == 0 ? WireType.BFLOAT16 : WireType.FLOAT32);
      int root = random.nextInt(rank.worldSize());
      Future<Void> done = switch (random.nextInt(4)) {
        case 0 -> rank.broadcast(tensor, root);
        case 1 -> rank.allGather(tensor);
        case 2 -> rank.reduce(tensor, ReduceOp.MAX, root);
        default -> rank.allReduce(tensor, ReduceOp.SUM);
      };
      calls.add(new Call(done, lent));
    }
    return calls;
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void everyCallEnds_leavesItsMemoryAlone_andTheRestGoOn(Transport transport) {
    Random random = new Random(7);
    for (int r = 0; r < RANKS; r++) {
      ports.add(listen(transport));
    }
    int broken = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      List<Collectives> ranks = LocalGroup.form(kill + 1, ports);
      get(Future.all(ranks.stream().map(Collectives::barrier).toList()));
      long seed = random.nextLong();
      boolean oneDoesNotCall = random.nextInt(3) == 0;
      CollectivePort victim = ports.get(random.nextInt(RANKS));
      List<Call> calls = new ArrayList<>();
      for (Collectives rank : ranks) {
        if (!oneDoesNotCall || ports.get(rank.rank()) != victim) {
          calls.addAll(calls(rank, seed));
        }
      }
      long after = random.nextInt(20);
      Future<Void> killed = after == 0 ? victim.close() : vertx.timer(after).compose(v -> victim.close());
      List<float[]> seen = new ArrayList<>();
      for (Call call : calls) {
        Throwable why = null;
        try {
          get(call.done);
        } catch (RuntimeException e) {
          why = e;
        }
        broken += why == null ? 0 : 1;
        assertThat(why).satisfiesAnyOf(e -> assertThat(e).isNull(), e -> assertThat(e).isInstanceOf(PeerLost.class),
            e -> assertThat(e).isInstanceOf(Cancelled.class));
        seen.add(call.lent.clone());
      }
      get(killed);
      ports.remove(victim);
      ports.add(listen(transport)); // a turn of the loops and more
      for (int i = 0; i < calls.size(); i++) {
        assertThat(Arrays.equals(calls.get(i).lent, seen.get(i))).as("kill %d, call %d", kill, i).isTrue();
      }
    }
    assertThat(broken).as("the moments were not all too late").isGreaterThan(KILLS);
    List<Collectives> last = LocalGroup.form(KILLS + 1, ports);
    get(Future.all(last.stream().map(Collectives::barrier).toList()));
    assertThat(get(waits.list())).isEmpty();
  }
}
