package io.regatta.trainer.heter;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Advice from times of batches that are easy to reckon with. */
class TransferShareTest {

  private static final TrainerId TRAINER = new TrainerId(0, 1);

  /** Advice after each of some batches, of 1 ms at the trainer, 2 ms at the heter worker and a time on the network. */
  private static List<String> advice(int batches, long networkMillis) {
    TransferShare share = new TransferShare();
    List<String> said = new ArrayList<>();
    long now = 0;
    for (int i = 0; i < batches; i++) {
      long sent = now + TimeUnit.MILLISECONDS.toNanos(1);
      now = sent + TimeUnit.MILLISECONDS.toNanos(2 + networkMillis);
      Optional<String> advice = share.answered(1, sent, now, 1000, 1_000_000, new ComputedBatch(new BatchId(TRAINER, 0, i + 1), CutResult.newBuilder()
          .setComputedNs(TimeUnit.MILLISECONDS.toNanos(2)).build(), List.of()), 250_000);
      advice.ifPresent(said::add);
    }
    return said;
  }

  @Test
  void steps_that_are_mostly_network_are_advised_once() {
    assertThat(advice(200, 10)).containsExactly("77 % of its steps is the network to heter workers: one heter worker feeds 1 trainer at "
        + "1 Gbit/s; regatta heter-advice measures from which bandwidth the cut pays (1.0 MB out, 0.3 MB back per batch of 1000)");
  }

  @Test
  void few_batches_or_a_fast_network_have_no_advice() {
    assertThat(advice(TransferShare.BATCHES, 10)).isEmpty();
    assertThat(advice(200, 2)).isEmpty();
  }
}
