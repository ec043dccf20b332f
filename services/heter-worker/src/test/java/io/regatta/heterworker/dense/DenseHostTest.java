package io.regatta.heterworker.dense;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.training.heter.queue.BatchQueue;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DenseHostTest {

  private static BatchToCompute batch(int rank) {
    return new BatchToCompute(new BatchId(new TrainerId(rank, 1), 0, 1), CutBatch.newBuilder().setExamples(4).build(), List.of());
  }

  /** Two batches of one work: the refusal of each names its own trainer. */
  @Test
  void refusesEachBatchOfATrainerThatHasNotRegisteredForItself() {
    VirtualTime time = new VirtualTime();
    Loop loop = time.loop("heter worker");
    BatchQueue queue = new BatchQueue(loop, loop.clock(), 100);
    DenseHost host = new DenseHost(queue, new DenseExchange("j", trainer -> () -> { }, loop, loop, null, null, null, null), true);
    queue.ready(CutSignature.getDefaultInstance(), true);
    time.settle();
    List<CompletableFuture<ComputedBatch>> results = List.of(queue.add(batch(0)), queue.add(batch(1)));
    queue.closeAfterWaiting(new Cancelled("the end"));
    var next = host.next().toCompletableFuture();
    time.settle();
    assertThat(next.join()).isEmpty();
    for (int rank = 0; rank < 2; rank++) {
      assertThat(results.get(rank)).isCompletedExceptionally();
      String trainer = "trainer " + rank + " has not registered";
      assertThat(results.get(rank).handle((result, e) -> e).join()).isInstanceOf(InvalidInput.class).hasMessageContaining(trainer);
    }
  }
}
