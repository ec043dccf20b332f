package io.regatta.fleet.role;

import io.regatta.node.address.HostPort;

/**
 * The variables of a collective trainer that knows the job's rendezvous endpoint, and not the others' endpoints. {@code
 * launch --master} starts such trainers. Machines join with {@code PADDLE_LOCAL_SIZE} trainers each, and their number
 * may be a range.
 */
final class MasterVariables {

  private static final String MASTER = "PADDLE_MASTER";
  private static final String NODES = "PADDLE_NNODES";
  private static final String EACH = "PADDLE_LOCAL_SIZE";
  private static final String ID = "PADDLE_TRAINER_ID";

  private MasterVariables() {}

  static void read(EnvironmentVariables variables, EnvironmentReadings found) {
    variables.endpoint(MASTER, variables.required(MASTER));
    String master = variables.areRight(MASTER) ? HostPort.parse(variables.text(MASTER), MASTER).toString() : "";
    String nodes = variables.text(NODES, "1");
    MachineRange machines = MachineRange.parse(nodes).orElseGet(() -> variables.wrong(NODES, NODES + " must be " + MachineRange.WANTED
        + ", but is \"" + nodes + "\", please check your environment.", MachineRange.ONE));
    RoleMakerVariables.trainersOnly(variables, found, MASTER);
    int each = variables.number(EACH, 1, 1);
    found.key(MASTER, master, "fleet.rendezvous_endpoint", master);
    found.implied(MASTER, "mode", "collective");
    found.implied(MASTER, "servers", 0);
    found.implied(MASTER, "fleet.role", "trainer");
    found.key(NODES, nodes, "trainers", machines.most() * each);
    if (machines.isOpen()) {
      found.implied(NODES, "collective.min_trainers", machines.least() * each);
    }
    if (variables.has(EACH)) {
      found.reading(EACH, Integer.toString(each), "trainers on each machine");
    }
    if (variables.has(ID)) {
      int id = variables.within(ID, variables.required(ID, 0), machines.most() * each, NODES);
      found.key(ID, Integer.toString(id), "fleet.id", id);
    }
  }
}
