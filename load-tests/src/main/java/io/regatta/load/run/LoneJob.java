package io.regatta.load.run;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.model.ModelSpec;
import io.regatta.training.config.Strategy;

/** The job of one trainer at one shard that most measurements use: every push is applied as it arrives. */
public final class LoneJob {

  private LoneJob() {}

  /**
   * Returns the specification of such a job.
   *
   * @param minBlock smallest dense block, elements
   */
  public static JobSpec spec(String job, int minBlock, ModelSpec model) {
    return new JobSpec(job, Strategy.async().mode(), 1, 0, NanPolicy.FAIL, 1, minBlock, model);
  }
}
