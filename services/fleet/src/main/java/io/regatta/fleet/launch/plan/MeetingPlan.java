package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The plan of the processes of a collective job on one of the machines that rendezvous at a master. They are its
 * trainers, and on one of the machines the master, which outlives every trainer. Their variables are those of
 * PaddlePaddle's {@code launch}.
 */
final class MeetingPlan {

  private final LaunchOptions options;
  private final Meeting meeting;
  private final Machines machine;
  private final LaunchedGpus gpus;
  private final String store;

  /**
   * Creates a plan.
   *
   * @param store through which the trainers rendezvous without a master, else empty. The address of the master is then
   *     unused, and only makes trainers read their number
   */
  MeetingPlan(LaunchOptions options, Meeting meeting, Machines machine, LaunchedGpus gpus, String store) {
    this.options = options;
    this.meeting = meeting;
    this.machine = machine;
    this.gpus = gpus;
    this.store = store;
  }

  /**
   * Returns the plan.
   *
   * @param elastic whether the job continues without trainers that are lost
   */
  LaunchPlan plan(String why, boolean elastic) {
    int each = gpus.trainers(options);
    Map<String, String> shared = new LinkedHashMap<>();
    shared.put("PADDLE_MASTER", meeting.master());
    shared.put("PADDLE_NNODES", meeting.machines().toString());
    shared.put("PADDLE_LOCAL_SIZE", Integer.toString(each));
    List<LaunchPlan.Planned> all = new ArrayList<>();
    if (store.isEmpty() && hosts()) {
      all.add(new LaunchPlan.Planned(LaunchedRole.MASTER, 0, Map.of("PADDLE_MASTER", meeting.master())));
    }
    for (int i = 0; i < each; i++) {
      Map<String, String> variables = new LinkedHashMap<>(shared);
      if (meeting.rank() >= 0 && !elastic) { // who is started again takes the rank that is free
        variables.put("PADDLE_TRAINER_ID", Integer.toString(meeting.rank() * each + i));
      }
      variables.putAll(gpus.variables(i, LaunchedRole.WORKER.gpus()));
      all.add(new LaunchPlan.Planned(LaunchedRole.WORKER, i, variables));
    }
    return new LaunchPlan(true, why, all, List.of(), meeting.machines().most() * each, elastic ? meeting.maxRestart() : 0, store);
  }

  /**
   * Returns true if the master is started here. Among machines without a rank it is the first one at the master's
   * address.
   */
  private boolean hosts() {
    HostPort master = HostPort.parse(meeting.master(), "--master");
    if (meeting.rank() > 0 || meeting.rank() < 0 && !machine.has(master.host())) {
      return false;
    }
    try {
      machine.exactPort(master.host(), master.port(), "the master");
      return true;
    } catch (InvalidInput taken) {
      if (meeting.rank() == 0) {
        throw taken;
      }
      return false;
    }
  }
}
