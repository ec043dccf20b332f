package io.regatta.data;

/**
 * A source of examples held in memory; a record is the row number. Immutable; any thread may use it.
 *
 * @param name for threads and messages
 * @param table all examples
 */
public record TableSource(String name, SlotBatch table) implements SlotSource<Integer> {

  @Override
  public Layout layout() {
    return table.layout();
  }

  @Override
  public long size() {
    return table.rows();
  }

  @Override
  public Cursor<Integer> open() {
    return new Cursor<>() {
      private int row;

      @Override
      public Integer next() {
        return row < table.rows() ? Integer.valueOf(row++) : null;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public boolean parse(Integer record, SlotBatch into, int row) {
    table.copy(record, into, row);
    return true;
  }

  /** Returns rows {@code from} (inclusive) to {@code to} (exclusive) as a source of their own. */
  public TableSource slice(String name, int from, int to) {
    SlotBatch part = SlotBatch.allocate(layout(), to - from);
    for (int row = from; row < to; row++) {
      parse(row, part, row - from);
    }
    return new TableSource(name, part);
  }
}
