package io.regatta.fleet.command.option;

import io.regatta.training.TrainingProgram;

/** The command line as its commands see it: the program that it was started with. */
public interface GivenProgram {

  /** Returns the program that every trainer runs; null: the class that the job names. */
  TrainingProgram program();
}
