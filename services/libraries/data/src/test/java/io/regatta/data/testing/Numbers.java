package io.regatta.data.testing;

import io.regatta.data.Layout;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A source whose record i has the id i. */
public class Numbers implements SlotSource<Integer> {

  private final String name;
  private final int records;

  public Numbers(String name, int records) {
    this.name = name;
    this.records = records;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Layout layout() {
    return new Layout(0, 1);
  }

  @Override
  public long size() {
    return records;
  }

  @Override
  public Cursor<Integer> open() {
    return new Cursor<>() {
      private int next;

      @Override
      public Integer next() {
        return next < records ? Integer.valueOf(next++) : null;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public boolean parse(Integer record, SlotBatch into, int row) {
    into.ids()[row] = record;
    return true;
  }

  /** All batches of an epoch, as record numbers. */
  public static List<List<Integer>> read(SlotSource<?> source, LoaderOptions options, int epoch) {
    List<List<Integer>> batches = new ArrayList<>();
    try (SlotLoader loader = SlotLoader.open(source, options, epoch)) {
      while (loader.hasNext()) {
        SlotBatch batch = loader.next();
        batches.add(IntStream.range(0, batch.rows()).mapToObj(row -> (int) batch.ids()[row]).toList());
      }
    }
    return batches;
  }
}
