package io.regatta.fleet.role;

/** A reader of the variables that belong to one kind of auxiliary services. Stateless. */
@FunctionalInterface
interface AuxiliaryVariables {

  /** No variables. */
  AuxiliaryVariables NONE = (variables, found, own) -> { };

  /**
   * Reads the variables in a process of a job that has such auxiliary services.
   *
   * @param own whether this process is one of them
   */
  void read(EnvironmentVariables variables, EnvironmentReadings found, boolean own);
}
