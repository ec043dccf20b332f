package io.regatta.trainer.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Parsed examples in memory, in an order that can be changed; the record is the place in that order. Owned by the thread
 * of its dataset; while a pass reads it, it is not changed, and reader threads see what was there when the pass began.
 */
final class Examples implements SlotSource<Integer> {

  /**
   * @param parts examples, each of {@code starts[i + 1] - starts[i]} rows
   * @param starts number of each part's first row; one more than parts
   * @param order row number by place
   */
  private record Content(List<SlotBatch> parts, int[] starts, int[] order) {}

  private static final int PART_BYTES = 1 << 20;

  private final String name;
  private final Layout layout;
  private volatile Content content;

  Examples(String name, Layout layout) {
    this.name = name;
    this.layout = layout;
    set(List.of());
  }

  /** Takes these examples instead of those before, in their order. */
  void set(List<SlotBatch> parts) {
    int[] starts = new int[parts.size() + 1];
    for (int i = 0; i < parts.size(); i++) {
      starts[i + 1] = Math.addExact(starts[i], parts.get(i).rows());
    }
    int[] order = new int[starts[parts.size()]];
    for (int i = 0; i < order.length; i++) {
      order[i] = i;
    }
    content = new Content(new ArrayList<>(parts), starts, order);
  }

  /** Puts the examples into an order that is a function of their number, their order before, and the seed. */
  void shuffle(long seed) {
    Content now = content;
    int[] order = now.order().clone();
    Random random = new Random(seed);
    for (int i = order.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int moved = order[i];
      order[i] = order[j];
      order[j] = moved;
    }
    content = new Content(now.parts(), now.starts(), order);
  }

  /**
   * Deals the examples out, each to a worker drawn by a generator of this seed, in their order.
   *
   * @return copies by worker, in parts of about a megabyte
   */
  List<List<SlotBatch>> deal(int workers, long seed) {
    int partRows = Math.max(1, PART_BYTES / ExampleBytes.perRow(layout));
    int rows = content.order().length;
    int[] to = new int[rows];
    int[] counts = new int[workers];
    Random random = new Random(seed);
    for (int place = 0; place < rows; place++) {
      to[place] = random.nextInt(workers);
      counts[to[place]]++;
    }
    List<List<SlotBatch>> dealt = new ArrayList<>();
    SlotBatch[] open = new SlotBatch[workers];
    int[] filled = new int[workers];
    for (int worker = 0; worker < workers; worker++) {
      dealt.add(new ArrayList<>());
    }
    for (int place = 0; place < rows; place++) {
      int worker = to[place];
      if (open[worker] == null || filled[worker] == open[worker].rows()) {
        open[worker] = SlotBatch.allocate(layout, Math.min(partRows, counts[worker]));
        filled[worker] = 0;
        dealt.get(worker).add(open[worker]);
      }
      copy(place, open[worker], filled[worker]++);
      counts[worker]--;
    }
    return dealt;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public long size() {
    return content.order().length;
  }

  @Override
  public Cursor<Integer> open() {
    int rows = content.order().length;
    return new Cursor<>() {
      private int next;

      @Override
      public Integer next() {
        return next < rows ? Integer.valueOf(next++) : null;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public boolean parse(Integer place, SlotBatch into, int row) {
    copy(place, into, row);
    return true;
  }

  /** Copies the example at a place of the order. */
  void copy(int place, SlotBatch into, int row) {
    Content now = content;
    int number = now.order()[place];
    int part = Arrays.binarySearch(now.starts(), number);
    part = part >= 0 ? part : -part - 2;
    now.parts().get(part).copy(number - now.starts()[part], into, row);
  }
}
