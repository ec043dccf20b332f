package io.regatta.training.save;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.SparseRows;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RowHandoverTest {

  private final RowHandover rows = new RowHandover();

  private static SparseRows slice(long id) {
    return new SparseRows("t", new long[] {id}, new float[] {id});
  }

  private CompletableFuture<Void> offer(long id) {
    return rows.take(slice(id)).toCompletableFuture();
  }

  @Test
  void a_slice_that_waits_holds_the_export_until_it_is_taken() {
    CompletableFuture<SparseRows> first = rows.next();
    assertThat(offer(1)).as("given to the writer at once").isDone();
    CompletableFuture<Void> second = offer(2);
    assertThat(second).as("the writer is busy").isNotDone();
    assertThat(first.join().ids()).containsExactly(1);
    assertThat(rows.next().join().ids()).containsExactly(2);
    assertThat(second).isCompleted();
  }

  @Test
  void the_end_comes_behind_what_waits() {
    offer(1);
    rows.ended(null);
    assertThat(rows.next().join().ids()).containsExactly(1);
    assertThat(rows.next().join()).isNull();
  }

  @Test
  void a_failed_export_reaches_the_writer_that_waits() {
    CompletableFuture<SparseRows> next = rows.next();
    PeerLost lost = new PeerLost("shard 0 is lost");
    rows.ended(lost);
    assertThatThrownBy(next::join).hasCause(lost);
    assertThatThrownBy(() -> rows.next().join()).hasCause(lost);
  }

  @Test
  void a_writer_that_gives_up_lets_the_export_go() {
    CompletableFuture<Void> waiting = offer(1);
    rows.close();
    assertThatThrownBy(waiting::join).hasCauseInstanceOf(Cancelled.class);
    assertThatThrownBy(() -> offer(2).join()).hasCauseInstanceOf(Cancelled.class);
  }
}
