package io.regatta.load.modes;

import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.TextSource;
import io.regatta.data.format.CriteoFormat;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The order of test examples by the rarity of their ids in the training data. It gives the quarter with the fewest ids
 * that occur less than {@value #RARE} times there, and the quarter with the most. Immutable.
 */
final class Rarity {

  private static final int RARE = 10;

  private final float[] labels;
  /** Numbers of the test examples, from the one with the fewest rare ids to the one with the most. */
  private final int[] order;

  private Rarity(float[] labels, int[] order) {
    this.labels = labels;
    this.order = order;
  }

  static Rarity of(List<Path> train, Path test, int testRows, long idSpace) {
    CriteoFormat format = new CriteoFormat(idSpace);
    Long2IntOpenHashMap counts = new Long2IntOpenHashMap();
    SlotBatch row = SlotBatch.allocate(CriteoFormat.LAYOUT, 1);
    each(format, train, row, () -> {
      for (long id : row.ids()) {
        counts.addTo(id, 1);
      }
    });
    float[] labels = new float[testRows];
    int[] rareIds = new int[testRows];
    int[] at = {0};
    each(format, List.of(test), row, () -> {
      labels[at[0]] = row.labels()[0];
      rareIds[at[0]++] = (int) Arrays.stream(row.ids()).filter(id -> counts.get(id) < RARE).count();
    });
    return new Rarity(labels, IntStream.range(0, testRows).boxed().sorted((a, b) -> rareIds[a] - rareIds[b])
        .mapToInt(Integer::intValue).toArray());
  }

  private static void each(CriteoFormat format, List<Path> files, SlotBatch row, Runnable seen) {
    TextSource source = new TextSource(format, files, new BadLines(BadLines.Policy.FAIL));
    try (SlotSource.Cursor<Line> lines = source.open()) {
      for (Line line = lines.next(); line != null; line = lines.next()) {
        source.parse(line, row, 0);
        seen.run();
      }
    }
  }

  /** Returns AUC of scores of all test examples, of the quarter with the fewest rare ids, and of that with the most. */
  double[] auc(float[] scores) {
    int quarter = order.length / 4;
    return new double[] {auc(scores, order), auc(scores, Arrays.copyOf(order, quarter)),
        auc(scores, Arrays.copyOfRange(order, order.length - quarter, order.length))};
  }

  private double auc(float[] scores, int[] examples) {
    BinaryMetrics metrics = new BinaryMetrics(BinaryMetrics.BUCKETS);
    for (int i : examples) {
      metrics.add(scores[i], labels[i]);
    }
    return metrics.auc();
  }
}
