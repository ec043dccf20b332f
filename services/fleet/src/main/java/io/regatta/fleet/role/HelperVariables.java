package io.regatta.fleet.role;

/** A reader of the variables that belong to one kind of helper. Stateless. */
@FunctionalInterface
interface HelperVariables {

  /** No variables. */
  HelperVariables NONE = (variables, found, own) -> { };

  /**
   * Reads the variables in a process of a job that has such helpers.
   *
   * @param own whether this process is one of them
   */
  void read(EnvironmentVariables variables, EnvironmentReadings found, boolean own);
}
