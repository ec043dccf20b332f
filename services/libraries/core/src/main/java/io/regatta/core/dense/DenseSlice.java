package io.regatta.core.dense;

import io.regatta.core.model.DensePartition;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A shard's part of a flat dense vector, read and written directly in the trainer's memory. Owned by one thread at a
 * time. It consists of a few runs, in the order of the shard's vector.
 */
public final class DenseSlice implements DenseValues {

  private final DenseMemory memory;
  private final int size;
  /** Start of each run in the slice, in order; {@link #places} has its start in the memory. */
  private final int[] starts;
  private final int[] places;
  private float[] scratch;

  /**
   * Creates a slice.
   *
   * @param parts of one shard in the order of its vector; neighbours that touch in the flat vector become one run
   */
  DenseSlice(DenseMemory memory, List<DensePartition.Part> parts) {
    this.memory = memory;
    int[] from = new int[parts.size()];
    int[] at = new int[parts.size()];
    int runs = 0;
    int end = 0;
    for (DensePartition.Part p : parts) {
      boolean touches = runs > 0 && p.flatOffset() - at[runs - 1] == end - from[runs - 1];
      if (!touches) {
        from[runs] = end;
        at[runs++] = p.flatOffset();
      }
      end += p.size();
    }
    size = end;
    starts = Arrays.copyOf(from, runs);
    places = Arrays.copyOf(at, runs);
  }

  /**
   * Returns other parts of the same memory, as one vector.
   *
   * @param parts of one shard, in the order of its vector
   */
  public DenseSlice of(List<DensePartition.Part> parts) {
    return new DenseSlice(memory, parts);
  }

  @Override
  public int size() {
    return size;
  }

  private int run(int index) {
    int found = Arrays.binarySearch(starts, index);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the end of a run in the slice. */
  private int end(int run) {
    return run + 1 < starts.length ? starts[run + 1] : size;
  }

  private interface Part {
    void take(int place, int done, int n);
  }

  /** Visits {@code n} elements from {@code from}, run by run. */
  private void forRuns(int from, int n, Part part) {
    int done = 0;
    while (done < n) {
      int run = run(from + done);
      int most = Math.min(n - done, end(run) - from - done);
      part.take(places[run] + from + done - starts[run], done, most);
      done += most;
    }
  }

  @Override
  public float[] block(int b) {
    if (scratch == null) {
      scratch = new float[Math.min(BLOCK, size)];
    }
    forRuns(b * BLOCK, length(b), (place, done, n) -> memory.read(place, scratch, done, n));
    return scratch;
  }

  @Override
  public void copy(int from, int n, ByteBuffer to) {
    forRuns(from, n, (place, done, part) -> memory.copy(place, part, to));
  }

  @Override
  public ByteBuffer direct(int from, int n) {
    if (n == 0) {
      return null;
    }
    int run = run(from);
    return from + n <= end(run) ? memory.direct(places[run] + from - starts[run], n) : null;
  }

  @Override
  public int together(int from) {
    if (from == size) {
      return 0; // a shard may have nothing of the vector
    }
    int run = run(from);
    return Math.min(end(run) - from, memory.together(places[run] + from - starts[run]));
  }

  /** Copies a shard's vector of this size into the slice. */
  public void write(DenseValues values) {
    for (int b = 0; b < values.blocks(); b++) {
      float[] block = values.block(b);
      forRuns(b * BLOCK, values.length(b), (place, done, n) -> memory.write(place, block, done, n));
    }
  }

  /** Returns a sink that writes the slice from its beginning. */
  public DenseSink sink() {
    return new DenseSink() {
      private int next;

      @Override
      public void put(ByteBuffer elements) {
        int n = elements.remaining() / Float.BYTES;
        forRuns(next, n, (place, done, part) -> memory.write(place, part, elements));
        next += n;
      }

      @Override
      public DenseValues values() {
        return DenseSlice.this;
      }
    };
  }
}
