package io.regatta.training.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import io.regatta.data.Layout;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.TableSource;
import io.regatta.data.testing.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SlotDatasetTest {

  @Test
  void batchesHoldTheExamplesAndStayIntactWhileTheNextOneIsMade() {
    SlotBatch table = SlotBatch.allocate(new Layout(2, 3), 5);
    for (int i = 0; i < 10; i++) {
      table.dense()[i] = i / 2f;
    }
    for (int i = 0; i < 15; i++) {
      table.ids()[i] = Long.MAX_VALUE - i;
    }
    for (int i = 0; i < 5; i++) {
      table.labels()[i] = i;
    }
    try (NDManager manager = NDManager.newBaseManager();
        SlotDataset dataset = new SlotDataset(new TableSource("table", table), LoaderOptions.inOrder(2))) {
      List<Batch> batches = new ArrayList<>();
      dataset.getData(manager).forEach(batches::add);

      assertThat(batches).hasSize(3);
      assertThat(dataset.batches()).isEqualTo(3);
      assertThat(dataset.examples()).isEqualTo(5);
      Batch first = batches.get(0);
      assertThat(first.getData().get(0).toFloatArray()).containsExactly(0f, 0.5f, 1f, 1.5f);
      assertThat(first.getData().get(1).getDataType()).isEqualTo(DataType.INT64);
      assertThat(first.getData().get(1).toLongArray()).startsWith(Long.MAX_VALUE, Long.MAX_VALUE - 1);
      assertThat(first.getLabels().get(0).getShape()).isEqualTo(new Shape(2, 1));
      Batch last = batches.get(2);
      assertThat(last.getSize()).isEqualTo(1);
      assertThat(last.getProgress()).isEqualTo(5);
      assertThat(last.getProgressTotal()).isEqualTo(5);
      assertThat(last.getData().get(0).toFloatArray()).containsExactly(4f, 4.5f);
      assertThat(last.getData().get(1).toLongArray()).containsExactly(Long.MAX_VALUE - 12, Long.MAX_VALUE - 13,
          Long.MAX_VALUE - 14);
      batches.forEach(Batch::close);
    }
  }

  @Test
  void everyCallIsANewEpochAndEndsAnUnfinishedOne() {
    SlotBatch table = SlotBatch.allocate(new Layout(0, 1), 100);
    for (int i = 0; i < 100; i++) {
      table.ids()[i] = i;
    }
    LoaderOptions options = LoaderOptions.inOrder(100).shuffled(100, 1).readers(2, 1, true);
    try (NDManager manager = NDManager.newBaseManager();
        SlotDataset dataset = new SlotDataset(new TableSource("epochs", table), options)) {
      long[] first = ids(dataset, manager);
      long[] second = ids(dataset, manager);
      assertThat(second).isNotEqualTo(first).containsExactlyInAnyOrder(first);
    }
    assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("regatta-read-epochs"));
  }

  @Test
  void theWaitForReadersIsToldApartFromTheMakingOfArrays() {
    Thread consumer = Thread.currentThread();
    SlotSource<Integer> slow = new Numbers("slow", 3) {
      @Override
      public boolean parse(Integer record, SlotBatch into, int row) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (consumer.getState() != Thread.State.WAITING && System.nanoTime() < end) { // a reader may be ahead
          Thread.onSpinWait();
        }
        LockSupport.parkNanos(20_000_000);
        return super.parse(record, into, row);
      }
    };
    try (NDManager manager = NDManager.newBaseManager();
        SlotDataset dataset = new SlotDataset(slow, LoaderOptions.inOrder(1))) {
      dataset.getData(manager).forEach(Batch::close);
      assertThat(dataset.waitedSeconds()).isGreaterThan(0.02);
    }
  }

  private static long[] ids(SlotDataset dataset, NDManager manager) {
    try (Batch batch = dataset.getData(manager).iterator().next()) {
      return batch.getData().get(0).toLongArray();
    }
  }
}
