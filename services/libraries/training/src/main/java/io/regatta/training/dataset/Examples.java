package io.regatta.training.dataset;

import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Parsed examples in memory, in an order that can be changed; a record is the index in that order. Owned by its
 * dataset's thread. It is not changed while a pass reads it; reader threads see the content from when the pass began.
 */
final class Examples implements SlotSource<Integer> {

  /**
   * The examples and their order.
   *
   * @param parts examples, each of {@code starts[i + 1] - starts[i]} rows
   * @param starts number of each part's first row; one more than parts
   * @param order row number by index
   * @param slots whose ids are taken from another row
   * @param others number of that row by row number; null: each has its own
   */
  private record Content(List<SlotBatch> parts, int[] starts, int[] order, int[] slots, int[] others) {

    int part(int number) {
      int part = Arrays.binarySearch(starts, number);
      return part >= 0 ? part : -part - 2;
    }
  }

  private static final int PART_BYTES = 1 << 20;

  private final String name;
  private final Layout layout;
  private volatile Content content;

  Examples(String name, Layout layout) {
    this.name = name;
    this.layout = layout;
    set(List.of());
  }

  /** Replaces the examples by these, in their order. */
  void set(List<SlotBatch> parts) {
    int[] starts = new int[parts.size() + 1];
    for (int i = 0; i < parts.size(); i++) {
      starts[i + 1] = Math.addExact(starts[i], parts.get(i).rows());
    }
    content = new Content(new ArrayList<>(parts), starts, inOrder(starts[parts.size()]), new int[0], null);
  }

  private static int[] inOrder(int rows) {
    int[] order = new int[rows];
    for (int i = 0; i < rows; i++) {
      order[i] = i;
    }
    return order;
  }

  /** Shuffles the examples: their order becomes a function of their number, their order before, and the seed. */
  void shuffle(long seed) {
    Content now = content;
    content = new Content(now.parts(), now.starts(), shuffled(now.order().clone(), seed), now.slots(), now.others());
  }

  private static int[] shuffled(int[] order, long seed) {
    Random random = new Random(seed);
    for (int i = order.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int moved = order[i];
      order[i] = order[j];
      order[j] = moved;
    }
    return order;
  }

  /**
   * Gives each example the ids of another one in these slots, all of the same one; without slots, each has its own
   * again.
   */
  void shuffleSlots(int[] slots, long seed) {
    Content now = content;
    content = new Content(now.parts(), now.starts(), now.order(), slots.clone(),
        slots.length == 0 ? null : shuffled(inOrder(now.order().length), seed));
  }

  /**
   * Assigns each example to a worker drawn by a generator of this seed, in their order.
   *
   * @return copies by worker, in batches of about a megabyte
   */
  List<List<SlotBatch>> assign(int workers, long seed) {
    int partRows = Math.max(1, PART_BYTES / ExampleBytes.perRow(layout));
    int rows = content.order().length;
    int[] to = new int[rows];
    int[] counts = new int[workers];
    Random random = new Random(seed);
    for (int place = 0; place < rows; place++) {
      to[place] = random.nextInt(workers);
      counts[to[place]]++;
    }
    List<List<SlotBatch>> assigned = new ArrayList<>();
    SlotBatch[] open = new SlotBatch[workers];
    int[] filled = new int[workers];
    for (int worker = 0; worker < workers; worker++) {
      assigned.add(new ArrayList<>());
    }
    for (int place = 0; place < rows; place++) {
      int worker = to[place];
      if (open[worker] == null || filled[worker] == open[worker].rows()) {
        open[worker] = SlotBatch.allocate(layout, Math.min(partRows, counts[worker]));
        filled[worker] = 0;
        assigned.get(worker).add(open[worker]);
      }
      copy(place, open[worker], filled[worker]++);
      counts[worker]--;
    }
    return assigned;
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

  /** Copies the example at an index of the order. */
  void copy(int place, SlotBatch into, int row) {
    Content now = content;
    int number = now.order()[place];
    int part = now.part(number);
    now.parts().get(part).copy(number - now.starts()[part], into, row);
    if (now.others() != null) {
      int other = now.others()[number];
      int its = now.part(other);
      for (int slot : now.slots()) {
        now.parts().get(its).copySlot(slot, other - now.starts()[its], into, row);
      }
    }
  }
}
