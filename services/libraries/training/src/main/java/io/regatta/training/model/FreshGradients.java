package io.regatta.training.model;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import java.nio.IntBuffer;
import java.util.BitSet;
import java.util.List;

/**
 * The set of parameters that have a gradient of the last backward pass. MXNet leaves the array of a parameter that took
 * no part unchanged, and keeps a mark. PyTorch keeps no mark that DJL shows: there the set holds those whose gradient
 * was nonzero in some step. Belongs to the model thread.
 */
public final class FreshGradients {

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();
  }

  private final List<NDArray> parameters;
  /** Parameters without a mark that had a gradient in some step. */
  private final BitSet reached = new BitSet();

  /** Watches these parameters. */
  public FreshGradients(List<NDArray> parameters) {
    this.parameters = parameters;
  }

  /**
   * Returns the indices of the parameters with a gradient, and clears their marks. Without marks, call it before the
   * gradients are set to zero.
   */
  public BitSet take() {
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
