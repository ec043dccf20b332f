package io.regatta.trainer;

/**
 * What a user writes: one class, run once per replica of every trainer rank, on that replica's model thread; never on
 * a server. Loaded by class name (and from a jar named in the job file), so it needs a public no-argument constructor.
 * The same program runs alone, simulated and on a cluster.
 */
@FunctionalInterface
public interface TrainingProgram {

  /** Trains. Whatever it throws ends the run of this rank as failed; the message is printed as one line. */
  void run(Worker worker) throws Exception;
}
