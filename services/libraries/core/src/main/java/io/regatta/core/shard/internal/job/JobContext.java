package io.regatta.core.shard.internal.job;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.loop.Clock;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The state common to all parts of one job on one shard. It has the job's specification, the time, the number of
 * updates, the answers that are owed, the time slices, and whether the job is broken. Owned by the shard's thread.
 */
public final class JobContext {

  public final JobSpec spec;
  /** Names of shard and job, for messages. */
  public final String where;
  public final Completions completions;
  public final TimeSlices turns;
  public final PushCounts counts = new PushCounts();
  private final Clock clock;
  private final Consumer<Function<String, RegattaException>> giveUp;
  private long version;
  /** The failure that broke this job here, or null. */
  private PeerLost broken;

  /**
   * Creates the context of a job without updates.
   *
   * @param later see {@link TimeSlices}
   * @param settle completes what a change may release
   * @param giveUp fails all open requests, each with the reason made for its name
   */
  public JobContext(JobSpec spec, int shard, Clock clock, Executor later, Completions completions, Runnable settle,
      Consumer<Function<String, RegattaException>> giveUp) {
    this.spec = spec;
    this.clock = clock;
    this.completions = completions;
    this.giveUp = giveUp;
    where = "shard " + shard + " of job " + spec.job();
    turns = new TimeSlices(later, settle, completions);
  }

  public long nowMillis() {
    return clock.epochMillis();
  }

  /** Updates applied. */
  public long version() {
    return version;
  }

  /** Counts a new update and returns its number. */
  public long nextUpdate() {
    return ++version;
  }

  /** Counts updates that have been made elsewhere, and of nothing here. */
  public void skipUpdates(long updates) {
    version += updates;
  }

  /** Resumes from a saved state with this many updates. */
  public void resumeAt(long updates) {
    version = updates;
  }

  /**
   * Breaks the job: a change of the tables has failed in its middle (no memory, a defect), so that no value can be
   * trusted. Fails all open requests now; {@link #checkWhole} refuses later ones. Trainers can still leave, which frees
   * the job.
   */
  public PeerLost breakDown(String during, Throwable cause) {
    broken = new PeerLost("job " + spec.job() + " is broken on " + where + " since " + during + " failed there: " + cause
        + ". End the job and start it again; if memory ran out, with a larger heap for the servers or more shards",
        cause);
    PeerLost why = broken;
    giveUp.accept(what -> why);
    return why;
  }

  public boolean isBroken() {
    return broken != null;
  }

  public void checkWhole() {
    if (broken != null) {
      throw broken;
    }
  }
}
