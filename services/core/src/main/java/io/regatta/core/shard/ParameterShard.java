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
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * The state of one shard: per job its part of the dense vector, its sparse rows, optimizer slots, versions, clocks and
 * de-duplication state per trainer, and in sync mode the open rounds. Owned by one thread (its verticle's event loop,
 * or the model thread in local mode); nothing here blocks, locks or starts a thread. A pull that must wait is parked
 * here and completed by the push, leave or loss that releases it, on the same thread.
 *
 * <p>Completions are {@code (value, error)} with exactly one of them non-null; errors are
 * {@link io.regatta.core.error.RegattaException}s, but for defects. A refused request changes nothing, but for a push of
 * which {@link #begin} has applied a part. A change that
 * fails in its middle, e.g. for want of memory, breaks its job on this shard: all that it owes and all that comes fails
 * with {@code PeerLost}, which says so; other jobs go on.
 */
public final class ParameterShard {

  /**
   * Limits of one shard.
   *
   * @param jobs jobs at a time
   * @param openRounds sync rounds open at a time; and pushes, per job and trainer, that wait for a later turn
   * @param parkedPulls waiting pulls at a time, per job
   * @param rows sparse rows in all tables of a job
   * @param sparseBytes bytes of memory that these may take ({@link io.regatta.core.table.SparseTable#rowBytes}); 0: any
   * @param evict whether rows of tracked tables make room for new ones when a limit is reached; otherwise what would pass
   *     it is refused
   * @param memory budgets of the heap: a pull for whose rows there is no room waits, one that could never have any is refused,
   *     and so are parameters
   */
  public record Limits(int jobs, int openRounds, int parkedPulls, long rows, long sparseBytes, boolean evict,
      ShardMemory memory) {

    /** Creates limits with budgets of the heap that nobody else shares. */
    public Limits(int jobs, int openRounds, int parkedPulls, long rows, long sparseBytes, boolean evict) {
      this(jobs, openRounds, parkedPulls, rows, sparseBytes, evict, ShardMemory.own());
    }

    /** Rows by number; what would pass it is refused. */
    public Limits(int jobs, int openRounds, int parkedPulls, long rows) {
      this(jobs, openRounds, parkedPulls, rows, 0, false);
    }

    public static Limits defaults() {
      return new Limits(64, 64, 4096, 200_000_000L);
    }
  }

  /**
   * What {@code regatta status} shows of one trainer on this shard.
   *
   * @param state {@code active}, {@code left} or {@code lost}
   * @param lastStep last step pushed, -1 if none
   * @param lastSeenMillis wall clock of its last request
   */
  public record TrainerStatus(int rank, long incarnation, String state, long lastStep, long lastSeenMillis) {}

  /**
   * What {@code regatta status} and the metrics show of one job on this shard.
   *
   * @param version updates applied
   * @param rows sparse rows per table
   * @param counts what has happened to the rows of each table
   * @param refused pulls and pushes refused because their rows would have passed a limit
   * @param stalenessMax highest {@link PushAck#staleness} so far
   * @param stalenessSum sum of them, for a mean over {@code pushes}
   * @param clockLeadMax highest {@link Pulled#clockLead} of a pull for a step so far
   * @param pushes applied pushes
   * @param skippedPushes pushes dropped by the NaN policy
   * @param repeatedPushes pushes recognised as repeated
   * @param roundWaitMillis per rank: total time that closed sync rounds waited for it after their first push
   */
  public record JobStatus(String job, Mode mode, long version, int denseSize, Map<String, Long> rows,
      Map<String, TableCounts> counts, long refused,
      long stalenessMax, long stalenessSum, long clockLeadMax, long pushes, long skippedPushes,
      long repeatedPushes, Map<Integer, Long> roundWaitMillis, List<TrainerStatus> trainers) {}

  /** Far above any run, far below an overflow. */
  private static final long MAX_STEP = 1L << 62;

  private final int index;
  private final Limits limits;
  private final Clock clock;
  private final Map<String, JobState> jobs = new LinkedHashMap<>();
  private final Executor later;
  private final Completions completions = new Completions();
  private final BlockPool pool = new BlockPool();

  /** A shard that does everything at once. */
  public ParameterShard(int index, Limits limits, Clock clock) {
    this(index, limits, clock, null);
  }

  /**
   * An empty shard.
   *
   * @param index its place in the shard map
   * @param clock dates requests by the wall clock, for people to read, and rows by the other, so that a wall clock that is set
   *     removes none
   * @param later runs a task in a later turn of the shard's thread: what is too large for one turn, be it a sync round, the
   *     answer to a pull or a push outside of rounds, is done in several ({@link Turns}); null: all in one turn
   */
  public ParameterShard(int index, Limits limits, Clock clock, Executor later) {
    this.later = later;
    this.index = index;
    this.limits = limits;
    this.clock = clock;
  }

  /**
   * See {@link ShardLink#register}. The same incarnation may register again (a new stream). Refuses a second
   * incarnation of a live rank and another model with {@code Conflict}, a rank ≥ trainers and a job that makes no
   * sense with {@code InvalidInput}, an incarnation that has left or was lost with {@code StaleGeneration}.
   */
  public long register(JobSpec job, TrainerId trainer, long step) {
    JobCheck.check(job, index);
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
   * A trainer that has registered goes on over a new stream; nothing changes. Refused with {@code StaleGeneration} if
   * this life of it is not active here: it has ended, or the job was freed meanwhile, and perhaps begun anew.
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

  /**
   * Takes a push in; {@code done} comes as {@link PushAck} says. The arrays stay the caller's to keep unchanged until
   * then; the dense gradient is released when it is needed no longer. Applied whole or refused whole, but for what
   * {@link #begin} has applied of it; refusals come through {@code done}, too.
   */
  public void push(String job, Push push, BiConsumer<PushAck, Throwable> done) {
    try {
      job(job).push(push, done);
    } catch (RuntimeException | Error e) {
      push.release();
      completions.error(done, e);
    }
    completions.drain();
  }

  /**
   * Begins a push whose dense elements are still to come: in a mode without rounds they are applied block by block as the
   * sink takes them, behind the rows that have come before. {@link #push} with the same header and all rows, but without a
   * dense gradient, ends it; a push that is begun again goes on where it was. Refusals are thrown, also by the sink, and
   * leave what has been applied.
   *
   * @param known the push, as far as it has come
   * @return null if the elements are to be kept for {@link #push}
   */
  public DenseSink begin(String job, Push known, int denseSize) {
    try {
      return job(job).begin(known, denseSize);
    } finally {
      completions.drain(); // of a job that has broken down
    }
  }

  /**
   * Returns true if {@link #push} would answer this push as a repetition whatever gradients it holds. False says nothing: one
   * that is still under way may be a repetition when its turn comes.
   */
  public boolean isRepeated(String job, Push push) {
    JobState state = jobs.get(job);
    return state != null && state.isRepeated(push);
  }

  /** Answers a pull when it may be answered, see {@link Pull}; refusals come through {@code done}, too. */
  public void pull(String job, Pull pull, BiConsumer<Pulled, Throwable> done) {
    try {
      job(job).pull(pull, done);
    } catch (RuntimeException | Error e) {
      completions.error(done, e);
    }
    completions.drain();
  }

  /** As {@link #pull(String, Pull, BiConsumer)}, for a caller that knows which life of the rank asks. */
  public void pull(String job, TrainerId from, Pull pull, BiConsumer<Pulled, Throwable> done) {
    try {
      job(job).trainers.live(from.rank(), from.incarnation(), PullQueue.name(pull));
    } catch (RuntimeException e) {
      completions.error(done, e);
      completions.drain();
      return;
    }
    pull(job, pull, done);
  }

  /** Takes a parked pull back, known by its callback, which is not called any more: its stream is gone. */
  public void withdraw(String job, BiConsumer<Pulled, Throwable> done) {
    JobState state = jobs.get(job);
    if (state != null) {
      state.withdraw(done);
      completions.drain();
    }
  }

  /**
   * Does the job's shrink of that number: counts decay, rows grow a day older at an {@code endOfDay}, and rows go as their
   * tables' {@link io.regatta.core.model.TableLife} says. Done over turns, and once: asked for again it is answered with
   * what it came to. Who wants it done between two steps of all trainers asks while they stand in a barrier.
   */
  public void shrink(String job, TrainerId trainer, long number, boolean endOfDay, BiConsumer<Shrunk, Throwable> done) {
    try {
      job(job).shrink(trainer, number, endOfDay, done);
    } catch (RuntimeException | Error e) {
      completions.error(done, e);
    }
    completions.drain();
  }

  /**
   * The trainer has ended its run: nobody waits for it any more; frees its state; the last one frees the job. A no-op
   * for an unknown job and for any but the live incarnation, so that it can be repeated.
   */
  public void leave(String job, TrainerId trainer) {
    end(job, trainer, TrainerState.Phase.LEFT);
  }

  /**
   * The trainer is dead (lease expired at the rendezvous): as {@link #leave}, but reported as {@code lost}, its pushes
   * in open rounds are kept if whole, and its parked pulls fail with {@code PeerLost}. A no-op for an older or unknown
   * incarnation; a rank that never came here is noted as lost, so that the first round does not wait for it.
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

  /** Returns the life of a rank that is active here, or -1 if there is none, or no such job; in constant time. */
  public long activeIncarnation(String job, int rank) {
    JobState state = jobs.get(job);
    return state == null ? -1 : state.trainers.activeIncarnation(rank);
  }

  /** Returns the trainers of a job that are active here, in the order of ranks; none of an unknown job. */
  public List<TrainerId> active(String job) {
    JobState state = jobs.get(job);
    return state == null ? List.of()
        : state.trainers.active().stream().map(t -> new TrainerId(t.rank, t.incarnation)).toList();
  }

  private void limitPool() {
    pool.limit(jobs.values().stream().mapToLong(j -> BlockPool.inUse(j.spec.trainers(), j.tables.denseSize())).sum());
  }

  /**
   * Takes all that is here of a job, as it is at one moment, to be fetched while the job goes on: in sync mode when the
   * rounds before {@code step} have closed, and before that of {@code step} does; in the other modes at once. One at a time
   * for each job. Refusals come through {@code done}, too.
   *
   * @param keptMax bytes of rows of each table that may be kept because they changed before they were fetched
   */
  public void snapshot(String job, long step, TableSnapshot.Scope scope, long keptMax,
      BiConsumer<JobSnapshot, Throwable> done) {
    snapshot(job, "", step, List.of(), scope, keptMax, done);
  }

  /**
   * Has new pushes of a job without rounds wait until this {@link #snapshot} is taken, or {@link #endHold}, which
   * somebody must see to.
   *
   * @param holder name of the snapshot; where several hold pushes, these wait for all of them
   * @param done takes the last push of each trainer, once no push is under way
   */
  public void hold(String job, String holder, BiConsumer<List<PushMark>, Throwable> done) {
    try {
      job(job).hold(holder, done);
    } catch (RuntimeException | Error e) {
      completions.error(done, e);
    }
    completions.drain();
  }

  /**
   * Ends the hold of a snapshot, if there is one; if the snapshot waits for pushes that have not come, it is taken
   * without them. A job that has gone holds none.
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
   * Takes a snapshot as {@link #snapshot(String, long, TableSnapshot.Scope, long, BiConsumer)} does, and ends its
   * hold then, or if it is refused.
   *
   * @param holder its name, by which it may hold pushes
   * @param upTo without rounds: pushes that are to be inside, and none after them; empty: whatever has come
   */
  public void snapshot(String job, String holder, long step, List<PushMark> upTo, TableSnapshot.Scope scope,
      long keptMax, BiConsumer<JobSnapshot, Throwable> done) {
    try {
      job(job).snapshot(holder, step, upTo, scope, keptMax, done);
    } catch (RuntimeException | Error e) {
      completions.error(done, e);
    }
    completions.drain();
  }

  /**
   * Begins to put a saved state into a job that has been registered.
   *
   * @throws Conflict if the job has begun, with other values or these; nothing changes then
   */
  public JobRestore restore(String job) {
    JobState state = job(job);
    state.checkNotBegun();
    return new JobRestore(state, index);
  }

  /**
   * The job goes on from this state of the dense vector in place of what it holds, e.g. a copy of another shard's. For a shard
   * of one trainer that waits for nothing here; rows of tables stay as they are, and their optimizers count every
   * update.
   *
   * @param values by block; the shard's from now on
   * @param slots by block, then by slot
   * @param version updates that are inside
   * @param updates that the optimizer of the dense vector has made since its slots were fresh
   * @param step sync: that comes next, at least the one that would have
   */
  public void replace(String job, float[][] values, float[][][] slots, long version, long updates, long step) {
    JobState state = job(job);
    state.tables.restore(version, OptimizerUpdates.all(version, state.tables.names()).withDense(updates));
    state.restored(values, slots, version, new ResumePoint(step, List.of()));
  }

  /**
   * Sets the dense values of a job that has begun, such as the mean of its ranks' own; the optimizer's slots and the version stay.
   * For a shard of one trainer that waits for nothing here.
   */
  public void assign(String job, DenseValues dense) {
    JobState state = job(job);
    state.checkWhole();
    state.turns.finish();
    state.check.denseLength(dense.size(), "assignment");
    state.tables.assign(dense);
    completions.drain();
  }

  /** See {@link ShardLink#digest}; in one go. */
  public long digest(String job) {
    job(job).turns.finish();
    completions.drain();
    DigestCursor cursor = digestCursor(job);
    while (cursor.advance(Long.MAX_VALUE / 2)) { }
    return cursor.value();
  }

  /** The digest in slices. */
  public DigestCursor digestCursor(String job) {
    JobState state = job(job);
    return new DigestCursor(state.tables, () -> state.inRounds.closing() || state.shrinks.underWay());
  }

  /** The rows of a table in slices. */
  public RowCursor rowCursor(String job, String table) {
    return new RowCursor(job(job).tables.table(table));
  }

  /** Of whose arrays received dense vectors are made; the shard releases those of pushes and of initial values. */
  public BlockPool blocks() {
    return pool;
  }

  /** Gives back what the jobs have taken of the heap's budgets; nothing more is asked of this shard. */
  public void close() {
    jobs.values().forEach(j -> j.tables.close());
  }

  /** Job names on this shard. */
  public List<String> jobs() {
    return List.copyOf(jobs.keySet());
  }

  /** What status and metrics show of a job. */
  public JobStatus status(String job) {
    return job(job).status();
  }

  /** What status and metrics show of a job without its tables, so that it costs the same however many there are. */
  public JobStatus summary(String job) {
    return job(job).summary();
  }

  /** Returns a walk over the tables of a job; over none if the job is not here. */
  public TableCursor tableCursor(String job) {
    JobState state = jobs.get(job);
    return new TableCursor(state == null ? null : state.tables);
  }

  /** Its place in the shard map. */
  public int index() {
    return index;
  }

  /** Everything parked here, with whom it waits for. */
  public List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    jobs.values().forEach(j -> j.waits(waits));
    return waits;
  }

  /** What is parked here for one job. */
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
    JobCheck.name(job);
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
