package io.regatta.heterworker;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.node.settings.StreamConfig;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/** Configuration of one heter worker: the section {@code heter_worker}. Validated in the constructor, immutable. */
@RecordBuilder
public record HeterWorkerConfig(
    @Setting(doc = "The job for whose trainers it computes: the keys of a job file, the same as the trainers'.")
    JobConfig job,

    @Setting(value = "-1", doc = "Index among the job's heter workers, from 0; -1: the lowest that no other one has.")
    int index,

    @Setting(value = "0", doc = "Port to serve on, on the node's host; 0: any free one.")
    int port,

    @Setting(value = "auto", doc = "When this heter worker ends by itself. job: once the job's trainers have ended, with status 0 if "
        + "one of them has ended its run with success, else 1. endless: never. auto: job.")
    Lifetime lifetime,

    @Setting(doc = "GPUs of this machine for its heter workers, e.g. 0,1: in the order of their indexes each has the next one, in "
        + "turn, as its gpu:0. Empty: heter.device of the job alone says.")
    List<Integer> gpus,

    @Setting(doc = "What the heter worker holds at most. A trainer too many is refused, and tries another heter worker, or this one "
        + "later. Batches beyond a limit wait at their trainers.")
    Limits limits,

    @Setting(doc = "Tensor streams.")
    StreamConfig stream) implements HeterWorkerConfigBuilder.With {

  /** The time at which a heter worker ends by itself. */
  public enum Lifetime { AUTO, JOB, ENDLESS }

  /** Limits of one heter worker. A trainer too many is refused with {@code Overloaded}; batches too many are not read. */
  @RecordBuilder
  public record Limits(
      @Setting(value = "1024", doc = "Trainers with a stream.")
      int trainers,

      @Setting(value = "64", doc = "Batches of one trainer that wait or are computed.")
      int batches,

      @Setting(value = "1073741824", unit = "bytes", doc = "Batches of all trainers, from their first byte until they are computed. One batch is "
          + "always taken.")
      long bytes) implements HeterWorkerConfigLimitsBuilder.With {

    public Limits {
      positive("limits.trainers", trainers);
      positive("limits.batches", batches);
      positive("limits.bytes", bytes);
    }

    /** Returns the defaults. */
    public static Limits defaults() {
      return Settings.defaults(Limits.class);
    }
  }

  public HeterWorkerConfig {
    if (index < -1) {
      throw new InvalidInput("index must be at least 0, or -1 for any, got " + index);
    }
    if (port < 0 || port > 65_535) {
      throw new InvalidInput("port must lie in 0..65535, got " + port);
    }
    gpus = new GpuAssignment(gpus).gpus();
  }

  /** Creates the configuration of a heter worker inside another program. */
  public HeterWorkerConfig(JobConfig job, int index) {
    this(job, index, 0, Lifetime.AUTO, List.of(), Limits.defaults(), StreamConfig.defaults());
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new InvalidInput(key + " must be at least 1, got " + value);
    }
  }
}
