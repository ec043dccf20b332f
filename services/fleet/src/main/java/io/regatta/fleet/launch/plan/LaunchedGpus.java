package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.training.config.GpuAssignment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * The GPUs of a launch on one machine, and the variables of each process for its own. Immutable.
 * PaddlePaddle's programs and CUDA read these variables. A trainer sees one GPU only, which for it is number 0.
 *
 * @param asked numbers of {@code --gpus}, by the machine's count; none: not given
 * @param visible those that processes here may use, as {@code CUDA_VISIBLE_DEVICES} calls them; none: there are none,
 *     or they cannot be seen from here
 */
public record LaunchedGpus(GpuAssignment asked, List<String> visible) {

  private static final String ONLY_ONE = "0";

  public LaunchedGpus {
    visible = List.copyOf(visible);
  }

  /**
   * Returns the GPUs of this machine. If none is seen, {@code --gpus} may be right all the same: not every system lists
   * them. Then the trainers decide, whose engines know.
   *
   * @param variable {@code CUDA_VISIBLE_DEVICES} of this process, or null
   * @param devices number of GPUs that the system lists
   * @throws InvalidInput if {@code --gpus} names one that a process here cannot use
   */
  public static LaunchedGpus here(GpuAssignment asked, String variable, int devices) {
    List<String> visible = variable == null ? IntStream.range(0, devices).mapToObj(Integer::toString).toList()
        : LaunchOptions.list(variable).stream().takeWhile(name -> !name.startsWith("-")).toList(); // as CUDA reads it
    for (int gpu : asked.gpus()) {
      if (!visible.contains(Integer.toString(gpu)) && (variable != null || devices > 0)) {
        throw new InvalidInput("--gpus names " + gpu + ", but " + (variable == null ? "this machine has " + devices
            + " GPUs, from 0 to " + (devices - 1) : "CUDA_VISIBLE_DEVICES gives this process " + (visible.isEmpty() ? "none"
            : String.join(",", visible))));
      }
    }
    return new LaunchedGpus(asked, visible);
  }

  /** Returns none: other processes have them. */
  LaunchedGpus none() {
    return new LaunchedGpus(GpuAssignment.NONE, List.of());
  }

  /** Returns those of {@code --gpus} only. */
  LaunchedGpus onlyAsked() {
    return new LaunchedGpus(asked, List.of());
  }

  /**
   * Returns the role whose processes have the GPUs: that of the auxiliary services which compute, if the job has any,
   * else the trainers'.
   *
   * @param count returns the number of the job's processes with a role
   */
  static LaunchedRole owner(ToIntFunction<LaunchedRole> count) {
    return LaunchedRole.auxiliaries().stream().filter(auxiliary -> !auxiliary.gpus().isEmpty()
        && count.applyAsInt(auxiliary) > 0)
        .findFirst().orElse(LaunchedRole.WORKER);
  }

  /** Returns the number of trainers of a collective job on one machine. */
  public int trainers(LaunchOptions options) {
    return options.nprocPerNode() != null ? options.nprocPerNode()
        : Math.max(1, asked.gpus().isEmpty() ? visible.size() : asked.gpus().size());
  }

  /**
   * Returns the variables of a process that computes. With {@code --gpus} it must use its GPU, see {@link
   * GpuAssignment}; otherwise its engine may find that it can use none.
   *
   * @param number of the process among those of its role on its machine, from 0
   * @param own the variable for the key of its GPUs
   */
  Map<String, String> variables(int number, String own) {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("FLAGS_selected_gpus", ONLY_ONE);
    variables.put("FLAGS_selected_xpus", ONLY_ONE);
    if (!asked.gpus().isEmpty()) {
      variables.putAll(asked.environment(number));
      variables.put("XPU_VISIBLE_DEVICES", Integer.toString(asked.of(number).orElseThrow()));
      variables.put(own, ONLY_ONE);
    } else if (!visible.isEmpty()) {
      variables.put("CUDA_VISIBLE_DEVICES", visible.get(number % visible.size()));
    }
    return variables;
  }
}
