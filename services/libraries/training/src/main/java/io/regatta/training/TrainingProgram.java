package io.regatta.training;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.config.JobConfig;

/**
 * The user's training code: one class, run once per replica of every trainer rank, on that replica's model thread.
 * Servers never run it. It is loaded by class name, from the class path or from the jar named in the job file, so it
 * needs a public no-argument constructor. The same program runs alone, simulated and on a cluster.
 */
@FunctionalInterface
public interface TrainingProgram {

  /** Trains. An exception fails the run of this rank; its message is printed as one line. */
  void run(Worker worker) throws Exception;

  /**
   * Returns the record that the program binds its section {@code settings} to ({@link Worker#settings}). With it,
   * unknown and mistyped keys are refused before anything starts. With null, the default, they are refused when the
   * program asks for its settings or, if it never does, when it makes its trainer.
   */
  default Class<? extends Record> settings() {
    return null;
  }

  /**
   * Checks that this process has what the job needs, such as its data files, before a service is started or a group
   * joined. May be called several times, on a thread that may block but is no model thread. Uses no engine and changes
   * nothing. Does nothing by default.
   *
   * @throws InvalidInput saying what is missing, where it was looked for, and what to do
   */
  default void check(JobConfig job) {}
}
