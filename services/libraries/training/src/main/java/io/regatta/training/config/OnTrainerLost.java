package io.regatta.training.config;

/** The outcome of a run that has lost trainers whose partition of the data is not trained by others. */
public enum OnTrainerLost {
  /** The others train and save, and the run ends with a non-zero status. */
  FAIL,
  /** The others train and save, and the run ends with status 0. */
  CONTINUE
}
