package io.regatta.training.model;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import java.nio.IntBuffer;
import java.util.BitSet;
import java.util.List;

/**
 * Which parameters have a gradient of the last backward pass. MXNet leaves the array of one that took no part as it was, and keeps a
 * mark. PyTorch keeps none that DJL shows: there it is those whose gradient has been anything but zeros in some step. Belongs to the
 * model thread.
 */
final class FreshGradients {

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();
  }

  private final List<NDArray> parameters;
  /** Without a mark: those that had one in some step. */
  private final BitSet reached = new BitSet();

  FreshGradients(List<NDArray> parameters) {
    this.parameters = parameters;
  }

  /** By their places; those with a mark count as old afterwards. Without marks, before the gradients are set to zero. */
  BitSet take() {
    BitSet fresh = new BitSet();
    for (int i = 0; i < parameters.size(); i++) {
      if (parameters.get(i) instanceof MxNDArray marked) {
        fresh.set(i, takeMark(marked));
      } else {
        reached.set(i, reached.get(i) || isReached(parameters.get(i)));
        fresh.set(i, reached.get(i));
      }
    }
    return fresh;
  }

  private static boolean takeMark(MxNDArray parameter) {
    IntBuffer state = IntBuffer.allocate(1);
    int failed = Mxnet.LIBRARY.MXNDArrayGetGradState(parameter.getHandle(), state);
    boolean fresh = failed != 0 || state.get(0) != 0;
    if (fresh && failed == 0) {
      Mxnet.LIBRARY.MXNDArraySetGradState(parameter.getHandle(), 0);
    }
    return fresh;
  }

  private static boolean isReached(NDArray parameter) {
    try (NDArray gradient = parameter.getGradient()) {
      for (float element : gradient.toFloatArray()) {
        if (element != 0) {
          return true;
        }
      }
      return false;
    }
  }
}
