package io.regatta.training.model;

import ai.djl.Device;
import ai.djl.engine.Engine;
import io.regatta.core.error.RegattaException.InvalidInput;

/** Where models are. Stateless, any thread. */
public final class Devices {

  private static final String AUTO = "auto";

  private Devices() {}

  /**
   * A device of this process, whose engine has been started.
   *
   * @param wish see {@link io.regatta.training.config.GpuAssignment#device}
   * @throws InvalidInput if there is no such GPU: else the first operation would fail, not the making of a model
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
          + " GPUs in this process; give one that is there (device, or --gpus), device: cpu, or an engine whose natives are built "
          + "for GPUs");
    }
    return Device.gpu(number);
  }
}
