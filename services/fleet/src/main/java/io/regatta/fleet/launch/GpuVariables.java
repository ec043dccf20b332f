package io.regatta.fleet.launch;

import io.regatta.trainer.config.GpuAssignment;
import java.util.LinkedHashMap;
import java.util.Map;

/** Which GPU a process has, in the variables that PaddlePaddle's programs and CUDA look at. Stateless. */
final class GpuVariables {

  private static final String FIRST = "0";

  private GpuVariables() {}

  /** @param local the process's number on its machine */
  static Map<String, String> of(GpuAssignment gpus, int local) {
    Map<String, String> variables = new LinkedHashMap<>();
    String own = gpus.of(local).isEmpty() ? FIRST : Integer.toString(gpus.of(local).getAsInt());
    variables.put("FLAGS_selected_gpus", own);
    variables.put("FLAGS_selected_xpus", own);
    gpus.environment(local).forEach((name, gpu) -> {
      variables.put(name, gpu);
      variables.put("XPU_VISIBLE_DEVICES", gpu);
    });
    return variables;
  }
}
