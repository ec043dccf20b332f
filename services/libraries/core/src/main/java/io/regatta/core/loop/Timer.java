package io.regatta.core.loop;

/** A timer of a {@link Loop}. */
public interface Timer {

  /** A timer that never fires. */
  Timer NONE = () -> { };

  /** Cancels the timer. On the loop's thread the task does not run any more; afterwards this does nothing. */
  void cancel();
}
