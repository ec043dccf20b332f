package io.regatta.training.run;

import ai.djl.training.dataset.Dataset;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.dataset.SlotDataset;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The partitions of data sets that a worker has taken. Belongs to the model thread. */
final class DatasetParts implements AutoCloseable {

  private final List<SlotDataset> opened = new ArrayList<>();

  /**
   * Returns every {@code count}th example, from {@code index} on.
   *
   * @throws InvalidInput if the data set cannot be partitioned, or not be read
   */
  Dataset take(Dataset dataset, int index, int count) {
    if (dataset instanceof SlotDataset slots) {
      SlotDataset mine = slots.shard(index, count);
      opened.add(mine);
      return mine;
    }
    if (!(dataset instanceof RandomAccessDataset indexed)) {
      throw new InvalidInput("cannot partition a " + dataset.getClass().getName()
          + ": only RandomAccessDataset and SlotDataset can be indexed; use shardIndex() and shardCount()");
    }
    try {
      indexed.prepare();
    } catch (IOException | TranslateException e) {
      throw new InvalidInput("the data set " + dataset.getClass().getName() + " could not be prepared: "
          + e.getMessage(), e);
    }
    List<Long> mine = new ArrayList<>();
    for (long i = index; i < indexed.size(); i += count) {
      mine.add(i);
    }
    return indexed.subDataset(mine);
  }

  /** Ends the readers of partitions that the program did not read to their end. */
  @Override
  public void close() {
    opened.forEach(SlotDataset::close);
  }
}
