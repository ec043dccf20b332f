package io.regatta.training.dataset;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A copier of batches into engine arrays, through a direct buffer that it reuses. A batch becomes dense float32
 * {@code [rows, dense]}, ids int64 {@code [rows, columns]} and, if they have any, values float32
 * {@code [rows, columns]}; an array of width 0 is left out. Owned by one model thread.
 */
public final class SlotArrays {

  private ByteBuffer staging = ByteBuffer.allocateDirect(0);

  /** Returns the shapes of a batch's arrays. */
  public static Shape[] shapes(Layout layout, int rows) {
    List<Shape> shapes = new ArrayList<>();
    if (layout.dense() > 0) {
      shapes.add(new Shape(rows, layout.dense()));
    }
    if (layout.slots() > 0) {
      shapes.add(new Shape(rows, layout.columns()));
    }
    if (layout.valued()) {
      shapes.add(new Shape(rows, layout.columns()));
    }
    return shapes.toArray(Shape[]::new);
  }

  /** Returns the model's inputs. */
  public NDList data(NDManager scope, SlotBatch batch) {
    Layout layout = batch.layout();
    NDList data = new NDList(3);
    if (layout.dense() > 0) {
      data.add(floats(scope, batch.dense(), batch.rows(), layout.dense()));
    }
    if (layout.slots() > 0) {
      data.add(longs(scope, batch.ids(), batch.rows(), layout.columns()));
    }
    if (layout.valued()) {
      data.add(floats(scope, batch.values(), batch.rows(), layout.columns()));
    }
    return data;
  }

  /** Returns the array of ids of {@link #data}; null if there is none. */
  NDArray ids(NDList data, Layout layout) {
    return layout.slots() == 0 ? null : data.get(layout.dense() > 0 ? 1 : 0);
  }

  /** Returns the labels, float32 {@code [rows, labels]}. */
  NDList labels(NDManager scope, SlotBatch batch) {
    return new NDList(floats(scope, batch.labels(), batch.rows(), batch.layout().labels()));
  }

  private NDArray floats(NDManager scope, float[] values, int rows, int width) {
    ByteBuffer buffer = staging(4L * rows * width);
    buffer.asFloatBuffer().put(values, 0, rows * width);
    NDArray array = scope.create(new Shape(rows, width), DataType.FLOAT32);
    array.set(buffer.asFloatBuffer());
    return array;
  }

  private NDArray longs(NDManager scope, long[] values, int rows, int width) {
    ByteBuffer buffer = staging(8L * rows * width);
    buffer.asLongBuffer().put(values, 0, rows * width);
    NDArray array = scope.create(new Shape(rows, width), DataType.INT64);
    array.set(buffer.asLongBuffer());
    return array;
  }

  /**
   * Returns the reused direct buffer, cut to a size. Engines copy out of a view of it before {@code set} returns.
   * PyTorch would continue to use a plain byte buffer afterwards.
   */
  private ByteBuffer staging(long bytes) {
    if (staging.capacity() < bytes) {
      staging = ByteBuffer.allocateDirect(Math.toIntExact(bytes));
    }
    return staging.clear().slice(0, (int) bytes).order(ByteOrder.nativeOrder());
  }
}
