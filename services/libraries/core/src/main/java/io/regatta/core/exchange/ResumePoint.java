package io.regatta.core.exchange;

import java.util.List;

/**
 * The point at which a job resumes a run on its shards. Immutable.
 *
 * @param round sync: the next step; otherwise the clock of trainers that are not named
 * @param trainers start of each trainer
 */
public record ResumePoint(long round, List<TrainerStart> trainers) {

  /** The start of a new run. */
  public static final ResumePoint NONE = new ResumePoint(0, List.of());

  /** Takes a copy of the list. */
  public ResumePoint {
    trainers = List.copyOf(trainers);
  }
}
