package io.regatta.training.model;

import ai.djl.Device;
import ai.djl.engine.Engine;
import io.regatta.core.error.RegattaException.InvalidInput;

/** The resolution of a configured device to one of this process. Stateless; any thread may use it. */
public final class Devices {

  private static final String AUTO = "auto";

  private Devices() {}

  /**
   * Returns a device of this process, whose engine has been started.
   *
   * @param wish see {@link io.regatta.training.config.GpuAssignment#device}
   * @throws InvalidInput if there is no such GPU: otherwise the first operation would fail, and not the creation of a
   *     model
   */
  public static Device of(String wish) {
    if (wish.equals("cpu")) {
      return Device.cpu();
    }
    Engine engine = Engines.current();
    if (wish.equals(AUTO)) {
      return engine.defaultDevice();
    }
    int gpus = engine.getGpuCount();
    if (wish.startsWith(AUTO) && gpus == 0) {
      return Device.cpu();
    }
    int number = Integer.parseInt(wish.substring(wish.indexOf(':') + 1));
    if (number >= gpus) {
      throw new InvalidInput("device: " + wish + ", but engine " + engine.getEngineName() + " sees " + gpus
          + (gpus == 1 ? " GPU" : " GPUs") + " in this process; give an existing one (device, or --gpus), device: cpu, or an "
          + "engine whose natives are built for GPUs");
    }
    return Device.gpu(number);
  }
}
