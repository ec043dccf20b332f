package io.regatta.training.model;

import ai.djl.mxnet.engine.MxGradientCollector;
import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.engine.MxNDManager;
import ai.djl.mxnet.jna.LibUtils;
import ai.djl.mxnet.jna.MxnetLibrary;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * An operation of one array whose gradient is computed here instead of by the engine: MXNet's
 * {@code autograd.Function}. Created on a model thread within a gradient collector. The backward pass calls back on
 * threads of the engine, which may wait there.
 */
final class CustomFunction {

  /** A function that computes a gradient. */
  interface Backward {

    /**
     * Computes the gradient, on a thread of the engine, which may wait.
     *
     * @param gradient of the loss with respect to the function's output
     * @return the gradient with respect to its input, of the same shape; made by {@code gradient}'s manager, with which
     *     it is closed
     */
    NDArray of(NDArray gradient);
  }

  /** {@code CustomFunctionBwdFunc} of MXNet's C interface. */
  interface BackwardCallback extends Callback {
    int invoke(int gradients, int results, Pointer arrays, Pointer requests, int training, Pointer state);
  }

  /** {@code CustomFunctionDelFunc}. */
  interface DeleteCallback extends Callback {
    int invoke(Pointer state);
  }

  private static final int DONE = 1;
  private static final int FAILED = 0;
  private static final int REQUEST_NOTHING = 0;
  private static final int REQUEST_ADD = 3;

  /** The objects to which the engine has pointers; kept until it deletes the function. */
  private record Recorded(Backward backward, Memory callbacks, Memory functions, Memory contexts) {}

  private static final Map<Long, Recorded> RECORDED = new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();
  private static final BackwardCallback BACKWARD = CustomFunction::backward;
  private static final DeleteCallback DELETE = CustomFunction::delete;

  private static final class Mxnet {
    private static final MxnetLibrary LIBRARY = LibUtils.loadLibrary();
    private static final Function RECORD = ((Library.Handler) Proxy.getInvocationHandler(LIBRARY)).getNativeLibrary()
        .getFunction("MXCustomFunctionRecord");

    static { // otherwise the engine's threads for such functions end the process with SIGABRT at exit
      Runtime.getRuntime().addShutdownHook(new Thread(LIBRARY::MXNotifyShutdown, "regatta-mxnet-shutdown"));
    }
  }

  private CustomFunction() {}

  /** Runs an operation that the engine's tape does not record. */
  static <T> T unrecorded(Supplier<T> what) {
    boolean recording = MxGradientCollector.setRecording(false);
    try {
      return what.get();
    } finally {
      MxGradientCollector.setRecording(recording);
    }
  }

  /** Records on the tape that {@code output}, computed {@link #unrecorded}, depends on {@code input}. */
  static void record(NDArray input, NDArray output, Backward backward) {
    long id = LAST.incrementAndGet();
    Memory functions = new Memory(2L * Native.POINTER_SIZE);
    functions.setPointer(0, CallbackReference.getFunctionPointer(BACKWARD));
    functions.setPointer(Native.POINTER_SIZE, CallbackReference.getFunctionPointer(DELETE));
    Memory contexts = new Memory(2L * Native.POINTER_SIZE);
    contexts.setPointer(0, Pointer.createConstant(id));
    contexts.setPointer(Native.POINTER_SIZE, Pointer.createConstant(id));
    Memory callbacks = new Memory(3L * Native.POINTER_SIZE); // MXCallbackList: int, pointer, pointer
    callbacks.setLong(0, 2);
    callbacks.setPointer(Native.POINTER_SIZE, functions);
    callbacks.setPointer(2L * Native.POINTER_SIZE, contexts);
    RECORDED.put(id, new Recorded(backward, callbacks, functions, contexts));
    try (Memory in = handle(input); Memory out = handle(output)) {
      int status = Mxnet.RECORD.invokeInt(new Object[] {1, in, 1, out, callbacks});
      if (status != 0) {
        throw new IllegalStateException("MXNet: " + Mxnet.LIBRARY.MXGetLastError());
      }
    }
  }

  private static Memory handle(NDArray array) {
    Memory memory = new Memory(Native.POINTER_SIZE);
    memory.setPointer(0, ((MxNDArray) array).getHandle());
    return memory;
  }

  /** Calls back for a gradient. This side must free the handles: the gradient's first, then the result's. */
  private static int backward(int gradients, int results, Pointer arrays, Pointer requests, int training, Pointer state) {
    Recorded recorded = RECORDED.get(Pointer.nativeValue(state));
    try (NDManager scope = NDManager.newBaseManager()) {
      MxNDArray gradient = ((MxNDManager) scope).create(arrays.getPointer(0));
      MxNDArray result = ((MxNDManager) scope).create(arrays.getPointer(Native.POINTER_SIZE));
      int request = requests.getInt(0);
      if (request == REQUEST_NOTHING) {
        return DONE;
      }
      NDArray computed = recorded.backward.of(gradient);
      if (request == REQUEST_ADD) {
        result.addi(computed);
      } else {
        computed.copyTo(result);
      }
      return DONE;
    } catch (RuntimeException | Error e) { // the computing side logs it; the engine only learns that it failed
      return FAILED;
    }
  }

  private static int delete(Pointer state) {
    RECORDED.remove(Pointer.nativeValue(state));
    return DONE;
  }
}
