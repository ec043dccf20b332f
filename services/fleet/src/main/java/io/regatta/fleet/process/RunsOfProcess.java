package io.regatta.fleet.process;

import io.regatta.training.config.JobConfig;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts of this process's runs of each job under its run id. A program may train one job several times, and each time
 * is a run of its own. All ranks run the same program, so they count alike. Any thread.
 */
final class RunsOfProcess {

  private static final Map<String, Integer> ENDED = new ConcurrentHashMap<>();

  private RunsOfProcess() {}

  /** Returns the job with the id of this process's next run of it. */
  static JobConfig next(JobConfig job) {
    int before = job.runId().isEmpty() ? 0 : ENDED.getOrDefault(key(job), 0);
    return before == 0 ? job : job.withRunId(job.runId() + "#" + (before + 1));
  }

  /** Notes that the run has ended with success. */
  static void ended(JobConfig job) {
    if (!job.runId().isEmpty()) {
      ENDED.merge(key(job), 1, Integer::sum);
    }
  }

  private static String key(JobConfig job) {
    return job.job() + "\n" + job.runId();
  }
}
