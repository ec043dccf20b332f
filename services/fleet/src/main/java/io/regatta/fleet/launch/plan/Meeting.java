package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.MachineRange;
import io.regatta.node.address.HostPort;

/**
 * The rendezvous of machines of a collective job that are not named beforehand: {@code --master}, {@code --nnodes},
 * {@code --rank}, {@code --max_restart}. Immutable.
 *
 * @param master {@code host:port} of the rendezvous; empty: the machines are named, or there is one
 * @param machines of the job
 * @param rank of this machine, from 0; -1: ranks are given as trainers join
 * @param maxRestart how often a trainer of an elastic job that fails is started again
 */
public record Meeting(String master, MachineRange machines, int rank, int maxRestart) {

  /** Values for this machine alone. */
  public static final Meeting NONE = new Meeting("", MachineRange.ONE, -1, 0);

  private static final int RESTARTS = 3;

  public Meeting {
    if (rank < -1 || rank >= machines.most()) {
      throw new InvalidInput("--rank is " + rank + ", but --nnodes says that there are " + machines.most() + " machines: from 0 to "
          + (machines.most() - 1) + ", or -1 for any");
    }
    if (maxRestart < 0) {
      throw new InvalidInput("--max_restart must be at least 0, not " + maxRestart);
    }
    if (!master.isEmpty()) {
      HostPort.parse(master, "--master");
    } else if (machines.most() > 1) {
      throw new InvalidInput("--nnodes " + machines.most() + " needs --master HOST:PORT, where the machines meet; or name them with "
          + "--ips");
    }
  }

  /**
   * Returns the values of a command line; null: not given.
   *
   * @param nodes a number, or a range {@code N:M}
   */
  public static Meeting of(String master, String nodes, Integer rank, Integer maxRestart) {
    MachineRange machines = nodes == null ? MachineRange.ONE : MachineRange.parse(nodes).orElseThrow(() -> new InvalidInput(
        "--nnodes must be " + MachineRange.WANTED + ", not \"" + nodes + "\""));
    return new Meeting(master == null ? "" : master.strip(), machines, rank == null ? -1 : rank,
        maxRestart == null ? RESTARTS : maxRestart);
  }

  /** Returns the same values with another endpoint. */
  Meeting at(String place) {
    return new Meeting(place, machines, rank, maxRestart);
  }
}
