package io.regatta.training;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.config.JobConfig;

/**
 * What a user writes: one class, run once per replica of every trainer rank, on that replica's model thread; never on
 * a server. Loaded by class name (and from a jar named in the job file), so it needs a public no-argument constructor.
 * The same program runs alone, simulated and on a cluster.
 */
@FunctionalInterface
public interface TrainingProgram {

  /** Trains. Whatever it throws ends the run of this rank as failed; the message is printed as one line. */
  void run(Worker worker) throws Exception;

  /**
   * The record that the program binds its section {@code settings} to ({@link Worker#settings}), so that unknown and
   * mistyped keys are refused before anything starts. Null, the default: the program does not say; then they are refused
   * when it asks for its settings, or, if it has not asked, when it makes its trainer.
   */
  default Class<? extends Record> settings() {
    return null;
  }

  /**
   * Looks, before a service is started or a group joined, whether this process has what the job needs, such as its data
   * files. Called on a thread that may block, no model thread, once or more; uses no engine and changes nothing. Does
   * nothing by default.
   *
   * @throws InvalidInput saying what is missing, where it was looked for, and what to do
   */
  default void check(JobConfig job) {}
}
