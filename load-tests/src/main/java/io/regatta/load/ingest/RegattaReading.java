package io.regatta.load.ingest;

import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.TextSource;
import io.regatta.data.format.CriteoFormat;
import io.vertx.core.json.JsonObject;

/** Reading as by a trainer's reader thread: alone on the main thread, or by a loader with one reader thread. */
final class RegattaReading extends Reading {

  private final boolean byLoader;
  private final TextSource source;
  private final SlotBatch batch;

  /** @param byLoader through a {@link SlotLoader}, which also finds the distinct ids of each batch */
  RegattaReading(JsonObject setup, boolean byLoader) {
    super(setup);
    this.byLoader = byLoader;
    source = new TextSource(new CriteoFormat(DIMENSION), files, new BadLines(BadLines.Policy.FAIL));
    batch = SlotBatch.allocate(source.layout(), BATCH);
  }

  @Override
  void read() {
    if (byLoader) {
      try (SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder(BATCH), 0)) {
        while (loader.hasNext()) {
          add(loader.next());
        }
      }
      return;
    }
    try (SlotSource.Cursor<Line> cursor = source.open()) {
      int row = 0;
      for (Line line = cursor.next(); line != null; line = cursor.next()) {
        source.parse(line, batch, row++);
        if (row == BATCH) {
          add(batch);
          row = 0;
        }
      }
      for (int i = 0; i < row; i++) {
        add(batch, i);
      }
    }
  }

  private void add(SlotBatch of) {
    for (int row = 0; row < of.rows(); row++) {
      add(of, row);
    }
  }

  private void add(SlotBatch of, int row) {
    int slots = of.layout().slots();
    for (int slot = 0; slot < slots; slot++) {
      sum += of.ids()[row * slots + slot];
    }
    examples++;
  }
}
