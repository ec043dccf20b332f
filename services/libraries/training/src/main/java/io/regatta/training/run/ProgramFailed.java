package io.regatta.training.run;

/**
 * The failure of the user's program by an error that is not Regatta's own; that error is the cause, with its stack
 * trace. The message names the program, the trainer and the number of steps. Ends the run with status 1.
 */
public final class ProgramFailed extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Creates the failure.
   *
   * @param message for people
   */
  public ProgramFailed(String message, Throwable cause) {
    super(message, cause);
  }

  /** Returns the message alone, which is written for people. */
  @Override
  public String toString() {
    return getMessage();
  }
}
