package io.regatta.training.model;

import ai.djl.engine.Engine;
import ai.djl.training.GradientCollector;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The gradient collectors of the PyTorch engine for several threads at a time. PyTorch's gradient mode belongs to a
 * thread, but DJL allows one collector per process by a static flag. A collector made here takes the flag only while it
 * is created. A lock alone would not do: a forward pass may wait for the step of another thread, which needs a
 * collector of its own. Any thread may use it.
 */
final class PyTorchCollectors {

  private static final String FLAG = "isCollecting";

  private PyTorchCollectors() {}

  /** Returns a collector for the calling thread; for engines other than PyTorch, the engine's own. */
  static synchronized GradientCollector open(Engine engine) {
    GradientCollector collector = engine.newGradientCollector();
    AtomicBoolean collecting = flag(collector);
    if (collecting != null) {
      collecting.set(false);
    }
    return collector;
  }

  /** Returns DJL's flag, or null if this engine has none. */
  private static AtomicBoolean flag(GradientCollector collector) {
    try {
      Field field = collector.getClass().getDeclaredField(FLAG);
      field.setAccessible(true);
      return field.get(null) instanceof AtomicBoolean flag ? flag : null;
    } catch (NoSuchFieldException e) {
      return null;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the collector of the PyTorch engine cannot be shared between threads; use "
          + "threads: 1 and one trainer per process", e);
    }
  }
}
