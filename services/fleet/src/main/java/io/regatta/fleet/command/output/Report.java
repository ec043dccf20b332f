package io.regatta.fleet.command.output;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.node.process.Interrupt;
import java.io.PrintWriter;
import org.slf4j.LoggerFactory;

/** The lines of a command, and the status with which its process ends. Stateless; any thread. */
public final class Report {

  /** The exit status of a command that has done its work. */
  public static final int DONE = 0;
  /** The exit status of a run that has failed. */
  public static final int FAILED = 1;
  /** The exit status of input that the user has to correct. */
  public static final int BAD_INPUT = 2;

  private Report() {}

  /** Prints a line that its reader sees at once. */
  public static void say(PrintWriter out, Object line) {
    out.println(line);
    out.flush();
  }

  /**
   * Reports a failure and returns the exit status: one line for an error that the user can correct, none after a
   * signal, which reports itself. The stack trace of anything else goes to the log.
   */
  public static int failure(Throwable e, PrintWriter err) {
    if (Interrupt.underway()) {
      return FAILED;
    }
    if (e instanceof RunEnded) { // a process that comes late to a run that has ended well
      err.println("regatta: " + e.getMessage());
      err.flush();
      return DONE;
    }
    if (e instanceof RegattaException) {
      err.println("regatta: " + e.getMessage());
    } else {
      LoggerFactory.getLogger(Report.class).error("this ended the command:", e);
      err.println("regatta: " + e);
    }
    err.flush();
    return e instanceof InvalidInput ? BAD_INPUT : FAILED;
  }
}
