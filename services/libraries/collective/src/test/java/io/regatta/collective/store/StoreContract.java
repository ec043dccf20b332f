package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.testing.BlockedLoopGuard;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract of every store: two clients of one store. */
@ExtendWith(BlockedLoopGuard.class)
abstract class StoreContract {
  private static final Duration LONG = Duration.ofSeconds(20);

  Vertx vertx;
  private Store one;
  private Store other;

  /** Another client of the store of this test. */
  abstract Store client();

  @BeforeEach
  void connect() {
    vertx = Vertx.vertx();
    one = client();
    other = client();
  }

  @AfterEach
  void close() {
    get(one.close());
    get(other.close());
    get(vertx.close());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Optional<String> text(Future<Optional<byte[]>> value) {
    return get(value).map(v -> new String(v, StandardCharsets.UTF_8));
  }

  @Test
  void whatOneSets_theOtherGetsUntilItIsDeleted() {
    assertThat(text(other.get("a"))).isEmpty();
    get(one.set("a", bytes("first")));
    get(one.set("d/b %?#", bytes("deeper")));
    get(one.set("empty", bytes("")));
    assertThat(text(other.get("a"))).contains("first");
    assertThat(text(other.get("d/b %?#"))).contains("deeper");
    assertThat(text(other.get("empty"))).contains("");
    get(other.set("a", bytes("second")));
    assertThat(text(one.get("a"))).contains("second");
    assertThat(get(one.delete("a"))).isTrue();
    assertThat(get(one.delete("a"))).isFalse();
    assertThat(text(other.get("a"))).isEmpty();
    assertThat(text(other.get("d/b %?#"))).contains("deeper");
  }

  @Test
  void scopesDoNotMeet() {
    get(one.under("x").set("k", bytes("of x")));
    assertThat(text(other.under("x").get("k"))).contains("of x");
    assertThat(text(other.under("y").get("k"))).isEmpty();
    assertThat(text(other.get("x/k"))).contains("of x");
  }

  @Test
  void valuesAreBytes() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    get(one.set("bytes", all));
    assertThat(get(other.get("bytes"))).hasValueSatisfying(v -> assertThat(v).isEqualTo(all));
    assertThat(get(other.compareAndSet("bytes", Optional.of(all), bytes("text")))).isTrue();
  }

  @Test
  void aWaitEndsWhenTheLastKeyIsThere_onTheContextOfItsCaller() {
    Context context = vertx.getOrCreateContext();
    Future<Context> waiting = Future.future(done -> context.runOnContext(v ->
        one.await(List.of("a", "b"), LONG).map(x -> Vertx.currentContext()).onComplete(done)));
    get(other.set("b", bytes("1")));
    assertThat(waiting.isComplete()).isFalse();
    get(other.set("a", bytes("2")));
    assertThat(get(waiting)).isSameAs(context);
    assertThat(new String(get(one.await("a", LONG)), StandardCharsets.UTF_8)).isEqualTo("2");
  }

  @Test
  void aWaitThatIsInVainNamesTheKey() {
    get(one.set("there", bytes("1")));
    assertThatThrownBy(() -> get(one.await(List.of("there", "rank-3"), Duration.ofMillis(50))))
        .isInstanceOf(PeerLost.class).hasMessageContaining("rank-3").hasMessageMatching("(?s).*[0-9]\\.[0-9] s.*")
        .hasMessageNotContaining("there,");
  }

  @Test
  void compareAndSetSetsOnlyWhatIsAsExpected() {
    assertThat(get(one.compareAndSet("k", Optional.of(bytes("x")), bytes("1")))).isFalse();
    assertThat(text(one.get("k"))).isEmpty();
    assertThat(get(one.compareAndSet("k", Optional.empty(), bytes("1")))).isTrue();
    assertThat(get(other.compareAndSet("k", Optional.empty(), bytes("2")))).isFalse();
    assertThat(get(other.compareAndSet("k", Optional.of(bytes("2")), bytes("3")))).isFalse();
    assertThat(get(other.compareAndSet("k", Optional.of(bytes("1")), bytes("2")))).isTrue();
    assertThat(text(one.get("k"))).contains("2");
  }

  @Test
  void ofManyWhoAddAtOnceEachGetsItsOwnSum() {
    List<Future<Long>> sums = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      sums.add(one.add("n", 1));
      sums.add(other.add("n", 1));
    }
    assertThat(sums.stream().map(sum -> get(sum))).containsExactlyInAnyOrderElementsOf(
        LongStream.rangeClosed(1, 20).boxed().toList());
    assertThat(get(one.add("n", -25))).isEqualTo(-5);
    assertThat(text(other.get("n"))).contains("-5");
    get(one.set("n", bytes("many")));
    assertThatThrownBy(() -> get(other.add("n", 1))).isInstanceOf(InvalidInput.class).hasMessageContaining("decimal");
  }

  @Test
  void whatIsNoKeyOrTooLargeIsRefused() {
    assertThatThrownBy(() -> get(one.set("", bytes("1")))).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> get(one.get("k".repeat(513)))).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> get(one.set("k", new byte[Store.VALUE_BYTES + 1]))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("1048577");
  }
}
