package io.regatta.trainer.djl;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import java.nio.IntBuffer;

/**
 * Whether backward has computed a parameter's gradient since the last look: MXNet leaves the array of one that took no part as it
 * was, and keeps a mark. Model threads.
 */
final class FreshGradients {

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();
  }

  private FreshGradients() {}

  /** True the first time after a backward pass; with engines that keep no such mark, always. */
  static boolean take(NDArray parameter) {
    if (!(parameter instanceof MxNDArray mx)) {
      return true;
    }
    IntBuffer state = IntBuffer.allocate(1);
    int failed = Mxnet.LIBRARY.MXNDArrayGetGradState(mx.getHandle(), state);
    boolean fresh = failed != 0 || state.get(0) != 0;
    if (fresh && failed == 0) {
      Mxnet.LIBRARY.MXNDArraySetGradState(mx.getHandle(), 0);
    }
    return fresh;
  }
}
