package io.regatta.training.run;

/**
 * The user's program threw what is none of Regatta's own errors; that is the cause, with its stack trace. The message
 * says which program, on which trainer, after how many steps. Ends the run with status 1.
 */
public final class ProgramFailed extends RuntimeException {
  private static final long serialVersionUID = 1;

  ProgramFailed(String message, Throwable cause) {
    super(message, cause);
  }

  /** The message alone: it is for people. */
  @Override
  public String toString() {
    return getMessage();
  }
}
