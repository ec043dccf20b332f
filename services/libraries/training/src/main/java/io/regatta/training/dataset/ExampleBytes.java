package io.regatta.training.dataset;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The wire form of examples sent between trainers: little-endian; the dense features of all rows, then the ids, their
 * values if they have some, and the labels. Stateless.
 */
public final class ExampleBytes {

  private ExampleBytes() {}

  /** Returns the bytes of one example. */
  public static int perRow(Layout layout) {
    int columns = layout.columns();
    return Float.BYTES * (layout.dense() + layout.labels()) + columns * (Long.BYTES + (layout.valued() ? Float.BYTES : 0));
  }

  /** Returns all rows of a batch as bytes. */
  public static byte[] of(SlotBatch batch) {
    Layout layout = batch.layout();
    int rows = batch.rows();
    ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(rows, perRow(layout))).order(ByteOrder.LITTLE_ENDIAN);
    putFloats(out, batch.dense(), rows * layout.dense());
    out.asLongBuffer().put(batch.ids(), 0, rows * layout.columns());
    out.position(out.position() + Long.BYTES * rows * layout.columns());
    if (layout.valued()) {
      putFloats(out, batch.values(), rows * layout.columns());
    }
    putFloats(out, batch.labels(), rows * layout.labels());
    return out.array();
  }

  private static void putFloats(ByteBuffer out, float[] values, int n) {
    out.asFloatBuffer().put(values, 0, n);
    out.position(out.position() + Float.BYTES * n);
  }

  /**
   * Decodes the rows.
   *
   * @throws InvalidInput if these are not {@code rows} examples of this layout
   */
  public static SlotBatch read(Layout layout, int rows, ByteBuffer bytes) {
    if (rows < 0 || bytes.remaining() != (long) rows * perRow(layout)) {
      throw new InvalidInput(rows + " examples of " + layout + " take " + (long) rows * perRow(layout) + " bytes, but "
          + bytes.remaining() + " came; all trainers must read the same format");
    }
    SlotBatch batch = SlotBatch.allocate(layout, rows);
    ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    getFloats(in, batch.dense());
    in.asLongBuffer().get(batch.ids());
    in.position(in.position() + Long.BYTES * batch.ids().length);
    if (layout.valued()) {
      getFloats(in, batch.values());
    }
    getFloats(in, batch.labels());
    return batch;
  }

  private static void getFloats(ByteBuffer in, float[] values) {
    in.asFloatBuffer().get(values);
    in.position(in.position() + Float.BYTES * values.length);
  }
}
