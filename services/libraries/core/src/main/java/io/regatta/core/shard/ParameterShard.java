package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.RegisteredTrainer;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The state of one shard. Per job it holds a part of the dense vector, sparse rows, optimizer slots, versions, clocks,
 * and the de-duplication state of each trainer. In a mode with rounds it also holds the open ones. Owned by one thread:
 * its verticle's event loop, or the model thread in local mode. Nothing here blocks, locks or starts a thread. A pull
 * that must wait is parked here; the push, leave or loss that releases it completes it, on the same thread.
 *
 * <p>A request returns a stage, which completes once, on the shard's thread; refusals fail it, too. Errors are {@link
 * io.regatta.core.error.RegattaException}s, except for defects. An answer whose receiver calls the shard again is never
 * nested: what that call completes is queued behind. A refused request changes nothing, except for a push of which
 * {@link #begin} has applied a part. A change that fails in its middle, for example because memory runs out, breaks its
 * job on this shard. All open and all later requests of that job then fail with {@code PeerLost}, which says so; other
 * jobs continue.
 */
public final class ParameterShard {

  /**
   * The state of one job on this shard, as {@code regatta status} and the metrics show it.
   *
   * @param version updates applied
   * @param rows sparse rows per table
   * @param counts events of the rows of each table
   * @param refused pulls and pushes refused because their rows would have passed a limit
   * @param stalenessMax highest {@link PushAck#staleness} so far
   * @param stalenessSum sum of them, for a mean over {@code pushes}
   * @param clockLeadMax highest {@link Pulled#clockLead} of a pull for a step so far
   * @param pushes applied pushes
   * @param skippedPushes pushes dropped by the NaN policy
   * @param repeatedPushes pushes recognised as repeated
   * @param roundWaitMillis per rank: total time that closed rounds waited for it after their first push
   */
  public record JobStatus(String job, Mode mode, long version, int denseSize, Map<String, Long> rows,
      Map<String, TableCounts> counts, long refused,
      long stalenessMax, long stalenessSum, long clockLeadMax, long pushes, long skippedPushes,
      long repeatedPushes, Map<Integer, Long> roundWaitMillis, List<RegisteredTrainer> trainers) {}

  /** Far above any run, far below an overflow. */
  private static final long MAX_STEP = 1L << 62;

  private final int index;
  private final ShardLimits limits;
  private final Clock clock;
  private final Map<String, JobState> jobs = new LinkedHashMap<>();
  private final Executor later;
  private final Completions completions = new Completions();
  private final BlockPool pool = new BlockPool();

  /** Creates an empty shard that does everything in one time slice. */
  public ParameterShard(int index, ShardLimits limits, Clock clock) {
    this(index, limits, clock, null);
  }

  /**
   * Creates an empty shard.
   *
   * @param index its place in the shard map
   * @param clock dates requests by the wall clock, for people to read; dates rows by the monotonic one, so that setting
   *     the wall clock removes none
   * @param later runs a task in a later turn of the shard's loop. Rounds, answers and pushes that are too large
   *     for one are done in several ({@link TimeSlices}). Null: all in one
   */
  public ParameterShard(int index, ShardLimits limits, Clock clock, Executor later) {
    this.later = later;
    this.index = index;
    this.limits = limits;
    this.clock = clock;
  }

  /**
   * Registers a trainer; see {@link ShardLink#register}. The same incarnation may register again (a new stream).
   * Refuses a second incarnation of a live rank, and another model, with {@code Conflict}. Refuses a rank ≥ trainers,
   * and a job that makes no sense, with {@code InvalidInput}. Refuses an incarnation that has left or was lost with
   * {@code StaleGeneration}.
   */
  public long register(JobSpec job, TrainerId trainer, long step) {
    JobSpecCheck.check(job, index);
    if (step < 0 || step > MAX_STEP) {
      throw new InvalidInput("registration of trainer " + trainer.rank() + " of job '" + job.job() + "' with step " + step
          + "; steps count from 0");
    }
    if (trainer.rank() < 0 || trainer.rank() >= job.trainers()) {
      throw new InvalidInput("rank " + trainer.rank() + " is outside job '" + job.job() + "', which has "
          + job.trainers() + " trainers: ranks 0 to " + (job.trainers() - 1));
    }
    long from;
    JobState state = jobs.get(job.job());
    if (state == null) {
      if (jobs.size() >= limits.jobs()) {
        throw new Overloaded("shard " + index + " holds " + jobs.size() + " jobs, its limit; job '" + job.job()
            + "' must wait until one of " + jobs.keySet() + " has ended");
      }
      state = new JobState(job, index, limits, pool, clock, later, completions);
      try {
        from = state.register(trainer, step);
      } catch (RuntimeException | Error e) {
        state.tables.close();
        throw e;
      }
      jobs.put(job.job(), state);
      limitPool();
    } else {
      if (!state.spec.isUsedAs(job)) {
        throw new Conflict("job '" + job.job() + "' is registered with another specification on shard " + index
            + ": " + JobDifference.describe(state.spec, job, trainer.rank())
            + "; give this job another name, or the same model and settings on every trainer");
      }
      from = state.register(trainer, step);
    }
    completions.drain();
    return from;
  }

  /**
   * Registers a trainer again, which resumes over a new stream; changes nothing. Refused with {@code StaleGeneration}
   * if this incarnation is not active here. Either it has ended, or the job was freed meanwhile, and perhaps started
   * again.
   */
  public void registerAgain(String job, TrainerId trainer) {
    JobState state = jobs.get(job);
    if (state == null) {
      throw new StaleGeneration("repeated registration of trainer " + trainer.rank() + " refused: shard " + index
          + " has freed job '" + job + "' meanwhile, for all its trainers had left or were declared lost; start it again");
    }
    state.registerAgain(trainer);
  }

  /** See {@link ShardLink#initialize}. */
  public void initialize(String job, TrainerId trainer, DenseValues dense) {
    try {
      job(job).initialize(trainer, dense);
    } finally {
      dense.release();
    }
    completions.drain();
  }

  /** Makes a request, whose refusal is its answer. */
  private <T> CompletionStage<T> ask(Consumer<CompletableFuture<T>> request) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      request.accept(answer);
    } catch (RuntimeException | Error e) {
      completions.error(answer, e);
    }
    completions.drain();
    return answer;
  }

  /**
   * Takes a push in, and acknowledges it as {@link PushAck} says. The caller must not change the arrays until then; the
   * dense gradient is released as soon as it is not needed. The push is applied whole or refused whole, except for what
   * {@link #begin} has applied of it.
   */
  public CompletionStage<PushAck> push(String job, Push push) {
    return ask(done -> {
      try {
        job(job).push(push, done);
      } catch (RuntimeException | Error e) {
        push.release();
        throw e;
      }
    });
  }

  /**
   * Begins a push whose dense elements have not arrived yet. In a mode without rounds the sink applies them block by
   * block as they arrive, after the rows that have arrived before. A {@link #push} with the same header and all rows, but
   * without a dense gradient, ends it. A push that is begun again resumes where it was. Refusals are thrown, also by
   * the sink, and do not undo what has been applied.
   *
   * @param known the push, as far as it has arrived
   * @return null if the caller must keep the elements for {@link #push}
   */
  public DenseSink begin(String job, Push known, int denseSize) {
    try {
      return job(job).begin(known, denseSize);
    } finally {
      completions.drain(); // of a job that has broken down
    }
  }

  /**
   * Returns true if {@link #push} would answer this push as a repetition, whatever gradients it holds. False is not a
   * guarantee: a push that is still being processed may later turn out to be a repetition.
   */
  public boolean isRepeated(String job, Push push) {
    JobState state = jobs.get(job);
    return state != null && state.isRepeated(push);
  }

  /** Answers a pull as soon as it may be answered, see {@link Pull}. */
  public CompletionStage<Pulled> pull(String job, Pull pull) {
    return ask(done -> job(job).pull(pull, done));
  }

  /** Answers a pull as {@link #pull(String, Pull)} does, for a caller that knows which incarnation of the rank asks. */
  public CompletionStage<Pulled> pull(String job, TrainerId from, Pull pull) {
    return ask(done -> {
      JobState state = job(job);
      state.trainers.live(from.rank(), from.incarnation(), PullQueue.name(pull));
      state.pull(pull, done);
    });
  }

  /** Withdraws a parked pull, identified by its stage, because its stream is gone; the stage never completes. */
  public void withdraw(String job, CompletionStage<Pulled> done) {
    JobState state = jobs.get(job);
    if (state != null) {
      state.withdraw(done);
      completions.drain();
    }
  }

  /**
   * Does the job's shrink of that number: counts decay, and rows grow a day older at an {@code endOfDay}. Rows are
   * removed as their tables' {@link io.regatta.core.model.TableLife} says. It takes several time slices, and is done
   * once: a repeated request is answered with the same result. To shrink between two steps of all trainers, call this
   * while they stand in a barrier.
   */
  public CompletionStage<Shrunk> shrink(String job, TrainerId trainer, long number, boolean endOfDay) {
    return ask(done -> job(job).shrink(trainer, number, endOfDay, done));
  }

  /**
   * Ends a trainer's run: nobody waits for it any more, and its state is freed. The last trainer to leave frees the
   * job. Does nothing for an unknown job or an incarnation that is not the live one, so that it can be repeated.
   */
  public void leave(String job, TrainerId trainer) {
    end(job, trainer, TrainerState.Phase.LEFT);
  }

  /**
   * Declares a trainer dead, because its lease at the rendezvous has expired. As {@link #leave}, but it is reported as
   * {@code lost}, and its parked pulls fail with {@code PeerLost}. Its pushes in open rounds are kept if they are
   * whole. Does nothing for an older or unknown incarnation. A rank that never registered here is noted as lost, so
   * that the first round does not wait for it.
   */
  public void lost(String job, TrainerId trainer) {
    end(job, trainer, TrainerState.Phase.LOST);
  }

  private void end(String job, TrainerId trainer, TrainerState.Phase how) {
    JobState state = jobs.get(job);
    if (state == null || !state.trainers.canEnd(trainer, how)) {
      return; // told again, at every view of the group
    }
    state.end(trainer, how);
    if (state.trainers.deserted()) {
      state.abandon();
      state.tables.close();
      jobs.remove(job);
      limitPool();
    }
    completions.drain();
  }

  /**
   * Returns the incarnation of a rank that is active here, or -1 if there is none, or no such job; in constant time.
   */
  public long activeIncarnation(String job, int rank) {
    JobState state = jobs.get(job);
    return state == null ? -1 : state.trainers.activeIncarnation(rank);
  }

  /** Returns the trainers of a job that are active here, in the order of ranks; none of an unknown job. */
  public List<TrainerId> active(String job) {
    JobState state = jobs.get(job);
    return state == null ? List.of()
        : state.trainers.active().stream().map(t -> new TrainerId(t.rank(), t.incarnation())).toList();
  }

  private void limitPool() {
    pool.limit(jobs.values().stream().mapToLong(j -> BlockPool.inUse(j.spec.trainers(), j.tables.denseSize())).sum());
  }

  /**
   * Takes a snapshot of a job at one moment, to be fetched while the job continues. With rounds the moment is after
   * the rounds before {@code step} have closed, and before the round of {@code step} does. In other modes it is
   * now. In every mode it waits for the dense vector's first values and for the end of a shrink. A job has one snapshot
   * at a time.
   *
   * @param keptMax bytes of rows of each table that may be kept because they changed before they were fetched
   */
  public CompletionStage<JobSnapshot> snapshot(String job, long step, TableSnapshot.Scope scope, long keptMax) {
    return snapshot(job, "", step, List.of(), scope, keptMax);
  }

  /**
   * Holds new pushes of a job without rounds until this {@link #snapshot} is taken, or until {@link #endHold}. The
   * caller must ensure that one of them happens.
   *
   * @param holder name of the snapshot; if several snapshots hold pushes, these wait for all of them
   * @return the last push of each trainer, once no push is being processed
   */
  public CompletionStage<List<PushMark>> hold(String job, String holder) {
    return ask(done -> job(job).hold(holder, done));
  }

  /**
   * Ends the hold of a snapshot, if there is one; if the snapshot waits for pushes that have not arrived, it is taken
   * without them. A job that has been freed has no hold.
   *
   * @return whether there was one
   */
  public boolean endHold(String job, String holder) {
    JobState state = jobs.get(job);
    boolean held = state != null && state.endHold(holder);
    completions.drain();
    return held;
  }

  /**
   * Takes a snapshot as {@link #snapshot(String, long, TableSnapshot.Scope, long)} does. Its hold ends when it is
   * taken, or if it is refused.
   *
   * @param holder its name, by which it may hold pushes
   * @param upTo without rounds: pushes to include, and none after them; empty: all that have arrived
   */
  public CompletionStage<JobSnapshot> snapshot(String job, String holder, long step, List<PushMark> upTo,
      TableSnapshot.Scope scope, long keptMax) {
    return ask(done -> job(job).snapshot(holder, step, upTo, scope, keptMax, done));
  }

  /**
   * Begins to restore a saved state into a job that has been registered.
   *
   * @throws Conflict if the job has begun, with other values or these; nothing changes then
   */
  public JobRestore restore(String job) {
    JobState state = job(job);
    state.checkNotBegun();
    return new JobRestore(state, index);
  }

  /**
   * Replaces the state of the dense vector, for example by a copy of another shard's, and resumes the job from it. For
   * a shard of one trainer that waits for nothing here. Rows of tables stay as they are, and their optimizers count
   * every update.
   *
   * @param values by block; the shard's from now on
   * @param slots by block, then by slot
   * @param version number of updates that are included
   * @param updates number of updates that the optimizer of the dense vector has made since its slots were fresh
   * @param step with rounds: the next one, at least the one that would have been next
   */
  public void replace(String job, float[][] values, float[][][] slots, long version, long updates, long step) {
    JobState state = job(job);
    OptimizerUpdates all = OptimizerUpdates.all(version, state.tables.names());
    state.tables.restore(version, new OptimizerUpdates(updates, all.tables()));
    state.restored(values, slots, version, new ResumePoint(step, List.of()));
  }

  /**
   * Sets the dense values of a job that has begun, such as the mean of its ranks' own values. The optimizer's slots and
   * the version stay. For a shard of one trainer that waits for nothing here.
   */
  public void assign(String job, DenseValues dense) {
    JobState state = job(job);
    state.checkWhole();
    state.context.turns.finish();
    state.check.denseLength(dense.size(), "assignment");
    state.tables.assign(dense);
    completions.drain();
  }

  /** Returns true once a job has its dense values, for which pulls and snapshots wait. */
  public boolean hasValues(String job) {
    return job(job).tables.initialized();
  }

  /** Returns the digest of a job, computed in one time slice; see {@link ShardLink#digest}. */
  public long digest(String job) {
    job(job).context.turns.finish();
    completions.drain();
    DigestCursor cursor = digestCursor(job);
    while (cursor.advance(Long.MAX_VALUE / 2)) { }
    return cursor.value();
  }

  /** Returns a walk that computes the digest in slices. */
  public DigestCursor digestCursor(String job) {
    JobState state = job(job);
    return new DigestCursor(state.tables, () -> state.strategy.isApplying() || state.shrinks.underWay());
  }

  /** Returns a walk over the rows of a table, in slices. */
  public RowCursor rowCursor(String job, String table) {
    return new RowCursor(job(job).tables.table(table));
  }

  /**
   * Returns the pool whose arrays hold received dense vectors; the shard releases those of pushes and of initial
   * values.
   */
  public BlockPool blocks() {
    return pool;
  }

  /** Returns the jobs' memory to the heap's budgets; the shard must not be used any more. */
  public void close() {
    jobs.values().forEach(j -> j.tables.close());
  }

  /** Returns the names of the jobs on this shard. */
  public List<String> jobs() {
    return List.copyOf(jobs.keySet());
  }

  /** Returns the state of a job with its tables, for status and metrics. */
  public JobStatus status(String job) {
    return job(job).status();
  }

  /** Returns the state of a job without its tables, so that the cost does not depend on their number. */
  public JobStatus summary(String job) {
    return job(job).summary();
  }

  /** Returns a walk over the tables of a job; over none if the job is not here. */
  public TableCursor tableCursor(String job) {
    JobState state = jobs.get(job);
    return new TableCursor(state == null ? null : state.tables);
  }

  /** Returns its place in the shard map. */
  public int index() {
    return index;
  }

  /** Returns all requests parked here, each with the peers that it waits for. */
  public List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    jobs.values().forEach(j -> j.waits(waits));
    return waits;
  }

  /** Returns the requests parked here for one job. */
  public List<Wait> waits(String job) {
    List<Wait> waits = new ArrayList<>();
    job(job).waits(waits);
    return waits;
  }

  /**
   * Checks the length of a job's name in a request, whether or not there is such a job.
   *
   * @throws InvalidInput if no job can have it
   */
  public static void checkName(String job) {
    JobSpecCheck.name(job);
  }

  private JobState job(String name) {
    JobState state = jobs.get(name);
    if (state == null) {
      throw new InvalidInput("job '" + name + "' is not on shard " + index + ", which has " + jobs.keySet()
          + "; register first (a job is freed when its last trainer has left)");
    }
    return state;
  }
}
