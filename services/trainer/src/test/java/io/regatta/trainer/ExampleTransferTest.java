package io.regatta.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.data.SlotBatch;
import io.regatta.protocol.gather.ExampleEndpoint;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Exchanges among trainers of one JVM, each on an event loop of its own, over HTTP/2. */
class ExampleTransferTest {

  private static final Layout LAYOUT = new Layout(1, List.of(2), true);
  private static final StreamOptions OPTIONS = StreamOptions.defaults();

  private final Vertx vertx = Vertx.vertx();
  private final List<Context> loops = new ArrayList<>();
  private final List<ExampleTransfer> transfers = new ArrayList<>();
  private final TreeMap<Integer, ExampleEndpoint> told = new TreeMap<>();
  private final List<Promise<List<ExampleEndpoint>>> waiting = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** Gathers as the rendezvous does: completes for all ranks when all have called. */
  private Future<List<ExampleEndpoint>> gather(ExampleEndpoint mine, int ranks) {
    Promise<List<ExampleEndpoint>> promise = Promise.promise();
    List<Promise<List<ExampleEndpoint>>> all;
    synchronized (told) {
      told.put(mine.getRank(), mine);
      waiting.add(promise);
      all = told.size() == ranks ? List.copyOf(waiting) : List.of();
    }
    all.forEach(p -> p.complete(List.copyOf(told.values())));
    return promise.future();
  }

  /** @param parcels what goes from a rank to another of a number that differs by one or three */
  private List<Future<List<List<Parcel>>>> start(int ranks, BiFunction<Integer, Integer, List<Parcel>> parcels) throws Exception {
    List<Future<List<List<Parcel>>>> results = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int self = rank;
      List<List<Parcel>> outgoing = new ArrayList<>();
      for (int to = 0; to < ranks; to++) {
        outgoing.add((to + self) % 2 == 0 ? List.of() : parcels.apply(self, to));
      }
      Context loop = vertx.getOrCreateContext();
      loops.add(loop);
      Promise<List<List<Parcel>>> result = Promise.promise();
      Promise<Void> begun = Promise.promise();
      loop.runOnContext(v -> {
        ExampleTransfer transfer = new ExampleTransfer(vertx, "127.0.0.1", "127.0.0.1", OPTIONS, "trainer " + self, self, "shuffle-0",
            LAYOUT, outgoing);
        transfers.add(transfer);
        transfer.run(mine -> gather(mine, ranks)).onComplete(result);
        begun.complete();
      });
      get(begun.future());
      results.add(result.future());
    }
    return results;
  }

  private static SlotBatch examples(int label, int rows) {
    SlotBatch batch = SlotBatch.allocate(LAYOUT, rows);
    Arrays.fill(batch.labels(), label);
    Arrays.fill(batch.ids(), -1L - label);
    return batch;
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  @Test
  void everybodyGetsTheParcelsOfAllInOrder() throws Exception {
    int ranks = 3;
    List<Future<List<List<Parcel>>>> results = start(ranks, (from, to) -> IntStream.range(0, 5)
        .mapToObj(i -> new Parcel(from, to, examples(1000 * from + 10 * to + i, 700))).toList());
    for (int rank = 0; rank < ranks; rank++) {
      List<List<Parcel>> incoming = get(results.get(rank));
      for (int from = 0; from < ranks; from++) {
        int parcels = (rank + from) % 2 * 5;
        List<Parcel> parts = incoming.get(from);
        assertThat(parts).hasSize(parcels);
        for (int i = 0; i < parcels; i++) {
          assertThat(parts.get(i).from()).isEqualTo(from);
          assertThat(parts.get(i).to()).isEqualTo(rank);
          SlotBatch expected = examples(1000 * from + 10 * rank + i, 700);
          assertThat(parts.get(i).examples().labels()).isEqualTo(expected.labels());
          assertThat(parts.get(i).examples().ids()).isEqualTo(expected.ids());
        }
      }
    }
  }

  /** It tells nobody a port that is closed already, and closes it. */
  @Test
  void aTrainerThatGivesUpBeforeItListensTellsNobody() throws Exception {
    Promise<List<List<Parcel>>> result = Promise.promise();
    vertx.getOrCreateContext().runOnContext(v -> {
      ExampleTransfer transfer = new ExampleTransfer(vertx, "127.0.0.1", "127.0.0.1", OPTIONS, "trainer 0", 0, "shuffle-0", LAYOUT,
          List.of(List.of(), List.of()));
      transfer.abort(new Cancelled("trainer 0 is being stopped"));
      transfer.run(mine -> gather(mine, 2)).onComplete(result);
    });
    assertThatThrownBy(() -> get(result.future())).hasCauseInstanceOf(Cancelled.class);
    assertThat(told).isEmpty();
  }

  /** Looks on a timer: tasks that follow one another keep a loop from its sockets for a second. */
  private void abortWhenConnected(int rank) {
    loops.get(rank).runOnContext(v -> vertx.setPeriodic(1, timer -> {
      if (loops.size() == transfers.size() && transfers.stream().allMatch(transfer -> transfer.missing().isEmpty())) {
        vertx.cancelTimer(timer);
        transfers.get(rank).abort(new Cancelled("trainer " + rank + " is being stopped"));
      }
    }));
  }

  /** There is more to be sent than could be before it gives up. */
  @Test
  void aTrainerThatGivesUpEndsItForTheOthers() throws Exception {
    List<Future<List<List<Parcel>>>> results = start(3, (from, to) ->
        Collections.nCopies(1_000_000, new Parcel(from, to, examples(to, 1))));
    abortWhenConnected(1);
    for (int rank : new int[] {0, 2}) {
      assertThatThrownBy(() -> get(results.get(rank))).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(PeerLost.class)
          .hasMessageContaining("trainer " + rank + ": ");
    }
    assertThatThrownBy(() -> get(results.get(1))).hasCauseInstanceOf(Cancelled.class);
  }
}
