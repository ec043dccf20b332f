package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class LastBatchesTest {

  @Test
  void theyAreTheMetricsOfTheNewestOnesAlone() {
    Random random = new Random(7);
    LastBatches last = new LastBatches(3, 64);
    assertThat(last.together().auc()).isEqualTo(0.5);
    for (int batches = 1; batches <= 8; batches++) {
      last.next().add(random.nextFloat(), batches % 2);
      random.setSeed(batches);
    }
    BinaryMetrics newest = new BinaryMetrics(64);
    for (int batch = 6; batch <= 8; batch++) {
      newest.add(new Random(batch - 1).nextFloat(), batch % 2);
    }
    assertThat(last.together().sums()).isEqualTo(newest.sums());
  }
}
