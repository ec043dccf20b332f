package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.StreamConfig;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/** Configuration of one trainer process or verticle: the section {@code trainer}. */
@RecordBuilder
public record TrainerConfig(
    @Setting(doc = "What to train: the keys of a job file.")
    JobConfig job,

    @Setting(value = "-1", doc = "Rank in [0, trainers); -1: any that is free.")
    int rank,

    @Setting(doc = "host:port announced to the other trainers; may be empty.")
    String endpoint,

    @Setting(doc = "File to write the run's result to, as JSON; empty: none. Written by the lowest rank that "
        + "is there at the end and has such a file.")
    String result,

    @Setting(value = "0", unit = "ms", doc = "Added to every step of this trainer: shows what a slow machine does to "
        + "the others in each mode.")
    long stepDelayMs,

    @Setting(doc = "GPUs of this machine for its trainers, e.g. 0,1: in the order of their ranks each has the next one, in turn, as "
        + "its gpu:0. In collective mode it trains there unless device is cpu; with servers the job's device decides. Empty: "
        + "device alone says.")
    List<Integer> gpus,

    @Setting(doc = "Tensor streams.")
    StreamConfig stream) implements TrainerConfigBuilder.With {

  public TrainerConfig {
    if (rank < -1 || rank >= job.trainers()) {
      throw new InvalidInput("rank " + rank + " is not one of the job's " + job.trainers()
          + " trainers; ranks count from 0, -1 takes any that is free");
    }
    gpus = new GpuAssignment(gpus).gpus();
    if (stepDelayMs < 0) {
      throw new InvalidInput("step_delay_ms must be at least 0, not " + stepDelayMs);
    }
  }

  /** Creates the configuration of a trainer inside another program, which does its own reporting. */
  public TrainerConfig(JobConfig job, int rank, String endpoint) {
    this(job, rank, endpoint, "", 0, List.of(), StreamConfig.defaults());
  }
}
