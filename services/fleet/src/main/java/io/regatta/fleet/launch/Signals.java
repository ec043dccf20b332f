package io.regatta.fleet.launch;

import java.util.List;
import sun.misc.Signal;

/**
 * Ctrl-C, SIGTERM and SIGHUP of a launcher, from {@link #caught} to its end: what is underway then hears of each. Any thread.
 */
final class Signals {

  private static final int SIGNALLED = 128;
  private static final Signal INTERRUPT = new Signal("INT");

  private int first;
  private int missed;
  private Runnable handler;

  private Signals() {}

  /** Takes them from now on; until somebody is told, they are kept. */
  static Signals caught() {
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

  /** Whom to tell from now on, on a thread of the signal's; those that nobody has heard of yet are told at once. */
  synchronized void to(Runnable told) {
    handler = told;
    for (; missed > 0; missed--) {
      told.run();
    }
  }

  /** Whether there has been one. */
  synchronized boolean any() {
    return first != 0;
  }

  /** What the first one was, in words. */
  synchronized String words() {
    return first == INTERRUPT.getNumber() ? "Ctrl-C" : "signal " + first;
  }

  /** The exit status that says so. */
  synchronized int status() {
    return SIGNALLED + first;
  }
}
