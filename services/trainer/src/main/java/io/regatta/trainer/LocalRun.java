package io.regatta.trainer;

/**
 * Runs a program in this process without any service ({@code --local}): same core, tables in process, one rank with
 * {@code threads} replicas, each on its own model thread. The calling thread waits.
 */
public final class LocalRun {

  private LocalRun() {}

  /** Runs to the end. {@code program} may be null: then the job's class is loaded. */
  public static RunResult run(JobConfig job, TrainingProgram program, Progress progress) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }
}
