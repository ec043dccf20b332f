package io.regatta.fleet.launch;

import java.util.List;
import sun.misc.Signal;

/**
 * The signals Ctrl-C, SIGTERM and SIGHUP of a launcher, from {@link #caught} to its end. Any thread. Each is passed to
 * the present handler.
 */
public final class Signals {

  private static final int SIGNALLED = 128;
  private static final Signal INTERRUPT = new Signal("INT");

  private int first;
  private int missed;
  private Runnable handler;

  private Signals() {}

  /** Catches signals from now on; they are kept until there is a handler. */
  public static Signals caught() {
    Signals signals = new Signals();
    for (Signal each : List.of(INTERRUPT, new Signal("TERM"), new Signal("HUP"))) {
      Signal.handle(each, caught -> signals.came(caught.getNumber()));
    }
    return signals;
  }

  private synchronized void came(int number) {
    first = first == 0 ? number : first;
    if (handler == null) {
      missed++;
    } else {
      handler.run();
    }
  }

  /**
   * Sets the handler of signals, which runs on a thread of the signal's; it is called at once for each that has been
   * kept.
   */
  public synchronized void to(Runnable told) {
    handler = told;
    for (; missed > 0; missed--) {
      told.run();
    }
  }

  /** Returns true if there has been a signal. */
  synchronized boolean any() {
    return first != 0;
  }

  /** Returns the name of the first signal. */
  synchronized String words() {
    return first == INTERRUPT.getNumber() ? "Ctrl-C" : "signal " + first;
  }

  /** Returns the exit status for the first signal. */
  synchronized int status() {
    return SIGNALLED + first;
  }
}
