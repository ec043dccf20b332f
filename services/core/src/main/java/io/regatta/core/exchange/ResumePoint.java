package io.regatta.core.exchange;

import java.util.List;

/**
 * Place at which a job resumes a run on its shards. Immutable.
 *
 * @param round sync: step that comes next; otherwise the clock of trainers that are not named
 * @param trainers where each begins
 */
public record ResumePoint(long round, List<TrainerStart> trainers) {

  /** Beginning of a run. */
  public static final ResumePoint NONE = new ResumePoint(0, List.of());

  /** Takes a copy of the list. */
  public ResumePoint {
    trainers = List.copyOf(trainers);
  }
}
