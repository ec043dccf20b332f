package io.regatta.training.config;

/** The end of a run that has lost trainers whose part of the data nobody else trains. */
public enum OnTrainerLost {
  /** The others train and save, and the run ends with a non-zero status. */
  FAIL,
  /** The others train and save, and that is success. */
  CONTINUE
}
