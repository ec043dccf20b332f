package io.regatta.training.model;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.ndarray.NDArray;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * A copier of float32 arrays between the engine and the Java heap, or direct memory. One per model thread: for copies
 * to the heap it reuses one direct buffer, which grows to the largest array seen. A read waits until the engine has
 * computed that array, and only that one.
 */
public final class HostCopy {

  private ByteBuffer staging = ByteBuffer.allocateDirect(0);
  private Pointer pointer;

  /** Returns all elements of {@code array}, in a buffer that the next call of this object may reuse. */
  FloatBuffer read(NDArray array) {
    int n = Math.toIntExact(array.size());
    if (!(array instanceof MxNDArray mx) || n == 0) {
      return FloatBuffer.wrap(array.toFloatArray());
    }
    FloatBuffer floats = staging(n);
    JnaUtils.syncCopyToCPU(mx.getHandle(), pointer, n);
    return floats;
  }

  /**
   * Copies all elements of {@code array} to direct memory, from element {@code off} on; MXNet writes there itself.
   *
   * @param out the memory's floats
   * @param memory the same memory
   */
  static void read(NDArray array, FloatBuffer out, Pointer memory, int off) {
    int n = Math.toIntExact(array.size());
    if (array instanceof MxNDArray mx && n > 0) {
      JnaUtils.syncCopyToCPU(mx.getHandle(), memory.share((long) off * Float.BYTES), n);
    } else {
      out.put(off, array.toFloatArray());
    }
  }

  /** Copies all elements of {@code array} to {@code out[off ..)}; returns their number. */
  int read(NDArray array, float[] out, int off) {
    FloatBuffer floats = read(array);
    int n = floats.remaining();
    floats.get(out, off, n);
    return n;
  }

  /** Sets all elements of {@code array} from {@code in[off ..)}; returns their number. */
  int write(float[] in, int off, NDArray array) {
    int n = Math.toIntExact(array.size());
    if (n > 0) {
      staging(n).put(in, off, n);
      array.set(slice(n));
    }
    return n;
  }

  /** Sets all elements of {@code array} from direct memory; returns their number. */
  int write(ByteBuffer direct, NDArray array) {
    int n = Math.toIntExact(array.size());
    if (n > 0) {
      array.set(direct.order(ByteOrder.nativeOrder()).asFloatBuffer());
    }
    return n;
  }

  /** Returns the staging buffer's first {@code n} floats, to fill before {@link #slice} passes them to the engine. */
  FloatBuffer staging(int n) {
    int bytes = Math.multiplyExact(n, Float.BYTES);
    if (staging.capacity() < bytes) {
      staging = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
      pointer = Native.getDirectBufferPointer(staging);
    }
    return slice(n);
  }

  /** Returns the content of {@link #staging}; engines copy out of it before {@code NDArray.set} returns. */
  FloatBuffer slice(int n) {
    return staging.duplicate().order(ByteOrder.nativeOrder()).clear().limit(n * Float.BYTES)
        .order(ByteOrder.nativeOrder()).asFloatBuffer();
  }
}
