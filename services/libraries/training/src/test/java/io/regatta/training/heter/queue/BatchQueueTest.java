package io.regatta.training.heter.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.training.heter.PartHost.PartWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The queue in simulated time: the oracle of each batch is what happened to it in the meantime. */
class BatchQueueTest {

  private static final TrainerId ZERO = new TrainerId(0, 1);
  private static final TrainerId ONE = new TrainerId(1, 1);

  private final VirtualTime time = new VirtualTime();

  private static BatchToCompute batch(TrainerId trainer, int replica, long number, int examples, long valuesOf) {
    return new BatchToCompute(new BatchId(trainer, replica, number), CutBatch.newBuilder().setReplica(replica)
        .setNumber(number).setStep(number - 1).setValuesOf(valuesOf).setExamples(examples).build(), List.of());
  }

  /** The result of a batch, whose loss is twice its number. */
  private static ComputedBatch result(BatchToCompute batch) {
    return new ComputedBatch(batch.id(), CutResult.newBuilder().setLoss(2 * batch.id().number()).build(), List.of());
  }

  private static double output(ComputedBatch result) {
    return result.head().getLoss();
  }

  private BatchQueue queue(int maxBatch) {
    Loop loop = time.loop("queue");
    return new BatchQueue(loop, loop.clock(), maxBatch);
  }

  private CompletableFuture<Optional<PartWork>> next(BatchQueue queue) {
    CompletionStage<Optional<PartWork>> work = queue.next();
    time.settle();
    return work.toCompletableFuture();
  }

  private List<BatchId> compute(BatchQueue queue) {
    PartWork work = next(queue).join().orElseThrow();
    work.done().accept(work.batches().stream().map(BatchQueueTest::result).toList());
    time.settle();
    return work.batches().stream().map(BatchToCompute::id).toList();
  }

  private static RegattaException failure(CompletableFuture<?> future) {
    assertThat(future).isCompletedExceptionally();
    try {
      future.join();
      throw new AssertionError();
    } catch (CompletionException e) {
      return (RegattaException) e.getCause();
    }
  }

  @Test
  void computesBatchesInTheOrderOfTheirArrival_withoutWaitingForMore() {
    BatchQueue queue = queue(100);
    queue.ready(CutSignature.getDefaultInstance(), true);
    CompletableFuture<Optional<PartWork>> asked = next(queue);
    assertThat(asked).isNotDone();
    CompletableFuture<ComputedBatch> first = queue.add(batch(ZERO, 0, 1, 4, 0));
    time.advance(Duration.ofMillis(3));
    CompletableFuture<ComputedBatch> second = queue.add(batch(ONE, 0, 1, 4, 0));
    CompletableFuture<ComputedBatch> third = queue.add(batch(ONE, 1, 7, 4, 0));
    PartWork work = asked.join().orElseThrow();
    assertThat(work.batches()).extracting(BatchToCompute::id).containsExactly(new BatchId(ZERO, 0, 1));
    time.advance(Duration.ofMillis(5));
    work.done().accept(work.batches().stream().map(BatchQueueTest::result).toList());
    time.settle();
    assertThat(first.join().head().getWaitedNs()).isZero();
    assertThat(second).isNotDone();
    assertThat(compute(queue)).containsExactly(new BatchId(ONE, 0, 1), new BatchId(ONE, 1, 7));
    assertThat(second.join().head().getWaitedNs()).isEqualTo(5_000_000);
    assertThat(output(third.join())).isEqualTo(14);
    assertThat(queue.counts().batches()).isEqualTo(3);
    assertThat(queue.counts().examples()).isEqualTo(12);
    assertThat(queue.counts().gathered()).isEqualTo(2);
    assertThat(queue.counts().busySeconds()).isEqualTo(0.008);
    assertThat(queue.counts().waitedSeconds()).isEqualTo(0.01);
  }

  @Test
  void gathersNeighboursOfTheSameValuesUpToMaxBatch() {
    BatchQueue queue = queue(10);
    queue.ready(CutSignature.getDefaultInstance(), true);
    time.settle();
    for (int rank = 0; rank < 5; rank++) {
      queue.add(batch(new TrainerId(rank, 1), 0, 1, 4, rank == 4 ? 1 : 0));
    }
    queue.add(batch(ZERO, 1, 2, 40, 1));
    queue.add(batch(ONE, 1, 2, 1, -1));
    queue.add(batch(ZERO, 2, 2, 1, -1));
    assertThat(compute(queue)).hasSize(2);
    assertThat(compute(queue)).hasSize(2);
    assertThat(compute(queue)).containsExactly(new BatchId(new TrainerId(4, 1), 0, 1));
    assertThat(compute(queue)).containsExactly(new BatchId(ZERO, 1, 2));
    assertThat(compute(queue)).containsExactly(new BatchId(ONE, 1, 2));
    assertThat(compute(queue)).containsExactly(new BatchId(ZERO, 2, 2));
  }

  @Test
  void gathersNothing_whenThePartForbidsIt() {
    BatchQueue queue = queue(100);
    queue.ready(CutSignature.getDefaultInstance(), false);
    time.settle();
    queue.add(batch(ZERO, 0, 1, 4, 0));
    queue.add(batch(ONE, 0, 1, 4, 0));
    assertThat(compute(queue)).hasSize(1);
    assertThat(compute(queue)).hasSize(1);
  }

  @Test
  void namesDroppedBatches_whenATrainerIsLost() {
    BatchQueue queue = queue(0);
    CompletableFuture<ComputedBatch> dropped = queue.add(batch(ONE, 0, 18, 4, 0));
    queue.add(batch(ONE, 1, 19, 4, 0));
    CompletableFuture<ComputedBatch> kept = queue.add(batch(ZERO, 0, 1, 4, 0));
    CompletableFuture<ComputedBatch> ofTheNextLife = queue.add(batch(new TrainerId(1, 2), 2, 1, 4, 0));
    assertThat(queue.drop(ONE)).hasToString("2 batches of steps 17, 18");
    assertThat(failure(dropped)).isInstanceOf(Cancelled.class);
    assertThat(queue.drop(ONE).batches()).isEmpty();
    assertThat(queue.counts().dropped()).isEqualTo(2);
    compute(queue);
    compute(queue);
    assertThat(kept).isCompleted();
    assertThat(ofTheNextLife).isCompleted();
    queue.add(batch(ONE, 0, 20, 4, 0));
    assertThat(queue.drop(ONE)).hasToString("1 batch of step 19");
  }

  @Test
  void replacesABatchThatIsSentAgain() {
    BatchQueue queue = queue(0);
    CompletableFuture<ComputedBatch> before = queue.add(batch(ONE, 0, 5, 4, 0));
    CompletableFuture<ComputedBatch> again = queue.add(batch(ONE, 0, 5, 4, 0));
    assertThat(failure(before)).isInstanceOf(StaleGeneration.class)
        .hasMessage("batch 5 of replica 0 of trainer 1 is replaced: the same replica has sent it again");
    CompletableFuture<ComputedBatch> former = queue.add(batch(new TrainerId(1, 0), 0, 9, 4, 0));
    assertThat(failure(former)).isInstanceOf(StaleGeneration.class)
        .hasMessage("batch 9 of replica 0 of trainer 1 is of a former life of trainer 1");
    compute(queue);
    assertThat(again).isCompleted();
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void failsAllBatchesOfAWork_whenThePartRefusesThem() {
    BatchQueue queue = queue(100);
    queue.ready(CutSignature.getDefaultInstance(), true);
    time.settle();
    CompletableFuture<ComputedBatch> first = queue.add(batch(ZERO, 0, 1, 4, 0));
    CompletableFuture<ComputedBatch> second = queue.add(batch(ONE, 0, 1, 4, 0));
    InvalidInput why = new InvalidInput("no");
    next(queue).join().orElseThrow().refused().accept(why);
    time.settle();
    assertThat(failure(first)).isSameAs(why);
    assertThat(failure(second)).isSameAs(why);
  }

  @Test
  void computesTheOthers_whenOneBatchOfAWorkIsRefused() {
    BatchQueue queue = queue(100);
    queue.ready(CutSignature.getDefaultInstance(), true);
    time.settle();
    CompletableFuture<ComputedBatch> first = queue.add(batch(ZERO, 0, 1, 4, 0));
    CompletableFuture<ComputedBatch> second = queue.add(batch(ONE, 0, 1, 4, 0));
    List<PartWork> alone = next(queue).join().orElseThrow().alone().get();
    assertThat(alone).extracting(work -> work.batches().size()).containsExactly(1, 1);
    InvalidInput why = new InvalidInput("no");
    alone.get(0).refused().accept(why);
    alone.get(1).done().accept(alone.get(1).batches().stream().map(BatchQueueTest::result).toList());
    time.settle();
    assertThat(failure(first)).isSameAs(why);
    assertThat(second).isCompleted();
  }

  @Test
  void computesWhatWaits_whenClosedAfterIt() {
    BatchQueue queue = queue(0);
    CompletableFuture<ComputedBatch> waiting = queue.add(batch(ZERO, 0, 1, 4, 0));
    Cancelled why = new Cancelled("the end");
    queue.closeAfterWaiting(why);
    assertThat(failure(queue.add(batch(ONE, 0, 1, 4, 0)))).isSameAs(why);
    compute(queue);
    assertThat(waiting).isCompleted();
    assertThat(next(queue).join()).isEmpty();
  }

  @Test
  void endsTheModelThreadsWork_whenClosed() {
    BatchQueue queue = queue(0);
    CompletableFuture<Optional<PartWork>> asked = next(queue);
    Cancelled why = new Cancelled("the end");
    queue.close(why);
    assertThat(asked.join()).isEmpty();
    assertThat(next(queue).join()).isEmpty();
    assertThat(queue.wanted().toCompletableFuture()).isCompleted();
    assertThat(failure(queue.add(batch(ZERO, 0, 1, 4, 0)))).isSameAs(why);
    assertThat(failure(queue.signature().toCompletableFuture())).isSameAs(why);
  }

  /**
   * Arrivals, repetitions, losses, new lives and works come in any order. Each batch is answered once. A live one gets
   * its own result, in the order in which its trainer sent it.
   */
  @Property(tries = 500)
  void answersEachLiveBatchOnce(@ForAll long seed, @ForAll @IntRange(min = 0, max = 12) int maxBatch, @ForAll boolean gatherable) {
    Random random = new Random(seed);
    BatchQueue queue = queue(maxBatch);
    queue.ready(CutSignature.getDefaultInstance(), gatherable);
    time.settle();
    Map<BatchId, CompletableFuture<ComputedBatch>> live = new LinkedHashMap<>();
    Map<TrainerId, List<BatchId>> sent = new HashMap<>();
    Map<TrainerId, List<BatchId>> answered = new HashMap<>();
    Map<Integer, TrainerId> lives = new HashMap<>();
    List<PartWork> working = new ArrayList<>();
    long number = 0;
    for (int event = 0; event < 80; event++) {
      TrainerId trainer = lives.computeIfAbsent(random.nextInt(4), rank -> new TrainerId(rank, 1));
      switch (random.nextInt(6)) {
        case 0, 1, 2 -> {
          BatchToCompute batch = batch(trainer, random.nextInt(3), ++number, 1 + random.nextInt(5), random.nextInt(3) - 1);
          CompletableFuture<ComputedBatch> answer = queue.add(batch);
          List<BatchId> replaced = live.entrySet().stream().filter(old -> old.getKey().trainer().equals(trainer)
              && old.getKey().replica() == batch.id().replica() && old.getValue().isCompletedExceptionally())
              .map(Map.Entry::getKey).toList();
          assertThat(replaced).hasSizeLessThanOrEqualTo(1);
          replaced.forEach(live::remove);
          sent.getOrDefault(trainer, new ArrayList<>()).removeAll(replaced);
          live.put(batch.id(), answer);
          sent.computeIfAbsent(trainer, t -> new ArrayList<>()).add(batch.id());
          answer.thenAccept(result -> {
            assertThat(result.id()).isEqualTo(batch.id());
            assertThat(output(result)).isEqualTo(2.0 * batch.id().number());
            answered.computeIfAbsent(trainer, t -> new ArrayList<>()).add(batch.id());
          });
        }
        case 3 -> {
          int dropped = queue.drop(trainer).batches().size();
          List<BatchId> gone = live.entrySet().stream().filter(entry -> entry.getKey().trainer().equals(trainer)
              && entry.getValue().isCompletedExceptionally()).map(Map.Entry::getKey).toList();
          assertThat(gone).hasSize(dropped);
          gone.forEach(live::remove);
          sent.getOrDefault(trainer, new ArrayList<>()).removeAll(gone);
          if (random.nextBoolean()) {
            lives.put(trainer.rank(), new TrainerId(trainer.rank(), trainer.incarnation() + 1));
          }
        }
        case 4 -> {
          if (working.isEmpty() && queue.waiting() > 0) {
            PartWork work = next(queue).join().orElseThrow();
            List<BatchToCompute> batches = work.batches();
            assertThat(batches).isNotEmpty();
            if (batches.size() > 1) {
              assertThat(gatherable).isTrue();
              assertThat(batches.stream().mapToInt(b -> b.head().getExamples()).sum()).isLessThanOrEqualTo(maxBatch);
              assertThat(batches).extracting(b -> b.head().getValuesOf()).containsOnly(batches.get(0).head().getValuesOf())
                  .doesNotContain(-1L);
            }
            working.add(work);
          }
        }
        default -> {
          if (!working.isEmpty()) {
            PartWork work = working.remove(0);
            work.done().accept(work.batches().stream().map(BatchQueueTest::result).toList());
            time.settle();
          }
        }
      }
    }
    working.forEach(work -> work.done().accept(work.batches().stream().map(BatchQueueTest::result).toList()));
    time.settle();
    while (queue.waiting() > 0) {
      compute(queue);
    }
    assertThat(live.values()).allSatisfy(answer -> assertThat(answer).isCompleted());
    assertThat(live.keySet()).containsAll(sent.values().stream().flatMap(List::stream).toList());
    sent.forEach((trainer, batches) -> assertThat(answered.getOrDefault(trainer, List.of())).containsSubsequence(batches));
    answered.values().forEach(batches -> assertThat(batches).doesNotHaveDuplicates());
  }
}
