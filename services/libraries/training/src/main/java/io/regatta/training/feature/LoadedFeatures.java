package io.regatta.training.feature;

import io.regatta.training.config.JobConfig;
import java.util.Optional;

/** The declared features of a job, with their statistics, read at the first call. Any thread. */
public final class LoadedFeatures {

  private final JobConfig job;
  private DeclaredFeatures features;

  /** Creates one that has read nothing yet. */
  public LoadedFeatures(JobConfig job) {
    this.job = job;
  }

  /**
   * Returns the features; empty if the job declares none. Blocks on files at the first call.
   *
   * @throws io.regatta.core.error.RegattaException.InvalidInput as {@link DeclaredFeatures#of}
   */
  public synchronized Optional<DeclaredFeatures> get() {
    if (features == null && !job.features().isEmpty()) {
      features = DeclaredFeatures.of(job);
    }
    return Optional.ofNullable(features);
  }

  /** Returns the features' {@link DeclaredFeatures#digest}; empty if the job declares none. */
  public String digest() {
    return get().map(DeclaredFeatures::digest).orElse("");
  }

  /** Returns true if these are the features of a job. */
  public boolean isOf(JobConfig other) {
    return job.equals(other);
  }
}
