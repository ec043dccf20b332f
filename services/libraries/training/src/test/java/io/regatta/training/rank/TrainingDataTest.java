package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.Sharding;
import io.regatta.data.DataCursor;
import io.regatta.data.LoaderOptions;
import io.regatta.data.testing.Numbers;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ModelLayout;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.model.Engines;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The data that a run resumed after a pass reads, if each worker has data of its own and reads them in no fixed order.
 */
class TrainingDataTest {

  /** Ids from 0 on; counts what is read. */
  private static final class Counted extends Numbers {

    private final AtomicInteger read;

    Counted(int records, AtomicInteger read) {
      super("counted", records);
      this.read = read;
    }

    @Override
    public Cursor<Integer> open() {
      Cursor<Integer> numbers = super.open();
      return new Cursor<>() {
        @Override
        public Integer next() {
          Integer id = numbers.next();
          if (id != null) {
            read.incrementAndGet();
          }
          return id;
        }

        @Override
        public void close() {
          numbers.close();
        }
      };
    }
  }

  private static SlotDataset dataset(AtomicInteger read) {
    return new SlotDataset(new Counted(12, read), LoaderOptions.inOrder(3).shuffled(12, 7).readers(1, 2, false));
  }

  private static StartingPoint behindPass(DataCursor cursor) {
    Manifest.Trainer trainer = new Manifest.Trainer(0, 1, new TrainerProgress(8, 8, 8, List.of()), List.of(8L), List.of(8L),
        JsonObject.mapFrom(cursor));
    return new StartingPoint(Path.of("pass-00001"), new Manifest("job", "00000000000000a1", "async", SnapshotKind.FULL, 8, 1, 8, false,
        "", "", new ModelLayout("0123456789abcdef", 7, Sharding.common(0), 4, "sgd", 0, List.of(), List.of()), List.of(trainer),
        List.of()), true);
  }

  /** Ids of a pass; none if it is behind the run. */
  private static List<Long> pass(TrainingData data, SlotDataset dataset, NDManager manager) {
    List<Long> ids = new ArrayList<>();
    if (!data.isBehind(dataset)) {
      var batches = dataset.getData(manager).iterator();
      data.skipTrained(dataset, batches);
      while (batches.hasNext()) {
        try (Batch batch = batches.next()) {
          for (long id : batch.getData().get(0).toLongArray()) {
            ids.add(id);
          }
        }
      }
    }
    return ids;
  }

  @Test
  void nothing_is_read_again_behind_a_pass() {
    Engines.current();
    try (NDManager manager = NDManager.newBaseManager(); SlotDataset unbroken = dataset(new AtomicInteger())) {
      TrainingData first = new TrainingData(0, 2);
      first.add(unbroken);
      List<List<Long>> passes = new ArrayList<>();
      List<DataCursor> behind = new ArrayList<>();
      for (int pass = 0; pass < 3; pass++) {
        passes.add(pass(first, unbroken, manager));
        behind.add(first.behindPass());
      }
      assertThat(passes.get(2)).hasSize(12).isNotEqualTo(passes.get(1));

      AtomicInteger read = new AtomicInteger();
      try (SlotDataset again = dataset(read)) {
        TrainingData resumed = new TrainingData(0, 2);
        resumed.resume(behindPass(behind.get(1)), 0, 1);
        assertThat(pass(resumed, again, manager)).isEmpty();
        assertThat(pass(resumed, again, manager)).isEmpty();
        assertThat(read).as("of the passes behind it").hasValue(0);
        assertThat(pass(resumed, again, manager)).isEqualTo(passes.get(2));
        assertThat(read).hasValue(12);
        assertThat(resumed.behindPass()).isEqualTo(behind.get(2));
      }
    }
  }
}
