package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * An assignment of a machine's GPUs to its trainers. The trainer of local rank r has the GPU at index r modulo their
 * number, and calls it {@code gpu:0}; servers have none. In collective mode a trainer with a GPU trains on it, unless
 * the job says {@code device: cpu}. With servers the job's {@code device} decides, and the assignment only says which
 * GPU is meant. Immutable.
 *
 * @param gpus numbers as the process (or, for {@link #environment}, the machine) counts them; empty: nothing is
 *     assigned
 */
public record GpuAssignment(List<Integer> gpus) {

  /** No GPU is assigned. */
  public static final GpuAssignment NONE = new GpuAssignment(List.of());
  /** CUDA's environment variable: the GPUs that a process sees, which it counts from 0. */
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  public GpuAssignment {
    gpus = List.copyOf(gpus);
    if (gpus.stream().anyMatch(gpu -> gpu < 0) || new HashSet<>(gpus).size() < gpus.size()) {
      throw new InvalidInput("gpus must be different numbers from 0 on, not " + text(gpus));
    }
  }

  private static String text(List<Integer> gpus) {
    return gpus.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** Returns the numbers as on a command line: {@code 0,1}. */
  @Override
  public String toString() {
    return text(gpus);
  }

  /**
   * Returns the number of trainers of lower ranks on the same host.
   *
   * @param hosts by rank, as each trainer names its own
   */
  public static int localRank(List<String> hosts, int rank) {
    return (int) hosts.subList(0, rank).stream().filter(hosts.get(rank)::equals).count();
  }

  /** Returns the GPU of a trainer; empty if nothing is assigned. */
  public OptionalInt of(int localRank) {
    return gpus.isEmpty() ? OptionalInt.empty() : OptionalInt.of(gpus.get(localRank % gpus.size()));
  }

  /**
   * Returns the device of a trainer's models, for several trainers in one process that sees all their GPUs.
   *
   * @param device the job's: {@code auto}, {@code cpu} or {@code gpu:N}
   * @return {@code cpu}; {@code gpu:N}, which must exist; {@code auto}, the engine's own choice; {@code auto:N}: that
   *     one if the engine sees any GPU, else the CPU
   * @throws InvalidInput if the job names another GPU than {@code gpu:0}
   */
  public String device(String device, Mode mode, int localRank) {
    OptionalInt own = of(localRank);
    if (own.isEmpty() || device.equals("cpu")) {
      return device;
    }
    if (device.equals("auto")) {
      return (mode.needsServers() ? "auto:" : "gpu:") + own.getAsInt();
    }
    if (!device.equals("gpu:0")) {
      throw new InvalidInput("device: " + device + ", but with gpus (" + this + ") each trainer sees one GPU, as gpu:0; give "
          + "device: gpu:0 or auto");
    }
    return "gpu:" + own.getAsInt();
  }

  /** Returns the environment of a trainer's own process, in which it sees its GPU only. */
  public Map<String, String> environment(int localRank) {
    OptionalInt own = of(localRank);
    return own.isEmpty() ? Map.of() : Map.of(VISIBLE, Integer.toString(own.getAsInt()));
  }
}
