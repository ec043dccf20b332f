package io.regatta.fleet.command.output;

import io.regatta.fleet.role.RoleEnvironment;
import java.io.PrintWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines for the user about a process's part in a job that its environment gives. Stateless. */
public final class RoleLines {

  private static final Logger LOG = LoggerFactory.getLogger(RoleLines.class);

  private RoleLines() {}

  /** Prints the origin of the variables that were taken, and notes about them; nothing if there are none. */
  public static void say(RoleEnvironment role, PrintWriter out) {
    if (role.isGiven()) {
      Report.say(out, "part in the job from the environment, " + role.source() + "; regatta env shows what each variable "
          + "led to");
    }
    role.notes().forEach(note -> Report.say(out, note));
  }

  /** Writes the same to the log, for a program that starts Regatta itself. */
  public static void log(RoleEnvironment role) {
    if (role.isGiven()) {
      LOG.info("part in the job from the environment, {}", role.source());
    }
    role.notes().forEach(LOG::warn);
  }

  /** Prints every variable that is set, and its effect. */
  public static void table(RoleEnvironment role, PrintWriter out) {
    if (role.readings().isEmpty()) {
      Report.say(out, "No variable of a launcher or scheduler is set: parts in a job come from options and files alone.");
      return;
    }
    int names = role.readings().stream().mapToInt(reading -> reading.variable().length()).max().orElse(0);
    int values = Math.min(60, role.readings().stream().mapToInt(reading -> reading.value().length()).max().orElse(0));
    for (RoleEnvironment.Reading reading : role.readings()) {
      Report.say(out, String.format("%-" + names + "s  %-" + Math.max(1, values) + "s  %s", reading.variable(),
          reading.value(), reading.meaning()).stripTrailing());
    }
    role.notes().forEach(note -> Report.say(out, note));
  }
}
