package io.regatta.collective.join;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.collective.join.MembershipRecord.Entry;
import io.regatta.collective.store.MemoryStore;
import io.regatta.collective.store.Store;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a clock that only the test moves. */
class StoreHeartbeatsTest {
  private static final Timing TIMING = new Timing(Duration.ofMillis(10), Duration.ofMillis(400));
  private static final List<Entry> OTHER = List.of(new Entry("other", "b", "b:1", -1, 1, ""));

  private final Vertx vertx = Vertx.vertx();
  private final Store store = new MemoryStore(vertx);
  private long nowMillis;
  private final StoreHeartbeats mine = new StoreHeartbeats(store, "mine", TIMING, () -> nowMillis * 1_000_000);
  private final StoreHeartbeats other = new StoreHeartbeats(store, "other", TIMING, () -> nowMillis * 1_000_000);

  @AfterEach
  void close() {
    get(vertx.close());
  }

  private Optional<String> key() {
    return get(store.get("pulse/other")).map(value -> new String(value, StandardCharsets.UTF_8));
  }

  /** The other one beats once, and then is silent for longer than the lease. */
  private void untilItIsLost() {
    get(other.beat());
    List<Entry> lost = List.of();
    while (lost.isEmpty()) {
      nowMillis += 100;
      lost = get(mine.lost(OTHER));
    }
    assertThat(lost).isEqualTo(OTHER);
    assertThat(nowMillis).isBetween(500L, 700L);
  }

  @Test
  void whatALostMemberHasLeftIsTakenAway_andDoesNotComeBack() {
    untilItIsLost();
    get(mine.forget(OTHER));
    assertThat(key()).isEmpty();
    get(other.beat());
    assertThat(key()).as("it was on its way").isEmpty();
  }

  @Test
  void aMemberThatWasSlowOnlyKeepsItsKey() {
    untilItIsLost();
    get(other.beat());
    get(mine.forget(OTHER));
    assertThat(key()).contains("2");
    nowMillis += 100;
    get(other.beat());
    assertThat(key()).contains("3");
    get(other.end());
    assertThat(key()).isEmpty();
  }

  @Test
  void aSignOfLifeThatSeemedToFailDoesNotStopTheNextOnes() {
    get(other.beat());
    get(store.set("pulse/other", "2".getBytes(StandardCharsets.UTF_8))); // the second one was written, but no answer came
    nowMillis += 100;
    get(other.beat());
    get(other.beat());
    assertThat(key()).contains("3");
  }
}
